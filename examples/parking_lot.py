"""A parking lot of any size, run and saved: links in a row, flows across all of them and across each of them.

`python examples/parking_lot.py LINKS FLOWS FOLDER`: one flow in a hundred crosses all links, the others one
link each. docs/speed.md shows what 100 links with 10,000 flows cost.
"""

from __future__ import annotations

import sys

import cwndlab as cl
from cwndlab.benchmark.networks import parking_lot

links, flows, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
long = max(1, flows // 100)
scenario = parking_lot(links, long, (flows - long) // links, mbps=1000, delay_ms=1, duration_s=10)
result = cl.run(scenario, seeds=1, fresh=True)
result.save(folder)
print(result.links.head())
