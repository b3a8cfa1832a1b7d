"""The documentation site: `make site` gives this to Sphinx.

The pages are the Markdown files as they are; they know nothing of the site. `site_contents` is its table of
contents.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

# Under each page (without its ending), the pages that its part of the contents lists, by heading.
site_contents: dict[str, dict[str, list[str]]] = {
    "README": {
        "Start": [
            "docs/tutorial",
            "docs/guide",
            "docs/gallery",
            "docs/which-algorithm",
            "docs/bbr-and-cubic",
        ],
        "Look it up": [
            "docs/scenario",
            "docs/results",
            "docs/exports",
            "docs/python",
            "docs/site/api",
            "docs/algorithms/README",
        ],
        "Subjects": ["docs/gymnasium", "docs/dqn", "docs/mptcp", "docs/linux", "docs/distribution"],
        "Papers": ["papers/README", "docs/reproduction", "docs/sensitivity"],
        "Trust": ["docs/validation", "docs/speed", "docs/speed-history", "docs/sources"],
        "Take part": [
            "docs/your-first-algorithm",
            "docs/how-to-add-an-algorithm",
            "CONTRIBUTING",
            "ARCHITECTURE",
            "docs/supply-chain",
            "docs/releasing",
            "CHANGELOG",
        ],
    },
    # In the order of the guide, which may name a page again.
    "docs/guide": {
        "Questions": [
            f"docs/{page}"
            for page in dict.fromkeys(
                re.findall(r"\]\((howto/[\w-]+)\.md\)", (ROOT / "docs" / "guide.md").read_text())
            )
        ]
    },
    "docs/algorithms/README": {
        "Algorithms": [
            f"docs/algorithms/{page.stem}"
            for page in sorted((ROOT / "docs" / "algorithms").glob("*.md"))
            if page.stem != "README"
        ]
    },
    "papers/README": {
        "Papers": [
            f"papers/{page.parent.name}/README" for page in sorted((ROOT / "papers").glob("*/README.md"))
        ]
    },
}

project = "cwndlab"
release = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]

root_doc = "README"
include_patterns = ["*.md", "docs/**", "papers/*.md", "papers/*/README.md"]
exclude_patterns = [
    ".*",
    "crates",
    "docs/images",
    "examples",
    "out",
    "python",
    "requirements",
    "scenarios",
    "target",
    "templates",
]

sys.path.insert(0, str(HERE))
extensions = ["myst_parser", "sphinx.ext.autodoc", "contents", "source_pages"]

# The same anchors as on GitHub. A link to one that does not exist is a warning, which `make site` makes an
# error.
myst_heading_anchors = 6

# Docstrings write code as `code`, and name types as the sources do.
default_role = "code"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80

# Two languages of examples (csv, jq) are unknown to Pygments; they appear as they are.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"cwndlab {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
# The text around a finding would have to be fetched, which a browser refuses to a page opened from a file.
html_show_search_summary = False
html_show_copyright = False
