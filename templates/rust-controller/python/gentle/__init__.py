"""A congestion control of my own: `cwndlab run ... --with gentle`."""

import cwndlab.engine
from gentle import _native

cwndlab.engine.use(_native)
