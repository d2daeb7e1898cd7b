"""How the pages become a site: `make docs`. Nothing in it is loaded from elsewhere, and every warning is an error."""

import importlib.metadata
import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project, author = "alphalift", "the authors of alphalift"
release = importlib.metadata.version("alphalift")
extensions = ["myst_parser", "public"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"alphalift {release}"
html_static_path = ["style"]
html_css_files = ["site.css"]
html_show_copyright = html_show_sourcelink = html_copy_source = False
maximum_signature_line_length = 88
python_use_unqualified_type_names = True


def front_page(_: Sphinx, name: str, source: list[str]) -> None:
    """The README, whose links start one folder above, before the table of contents that index.md is."""
    if name == "index":
        readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
        pages = re.sub(r"\[([^]]+)\]\([A-Z]+\.md\)", r"\1", readme)  # what is beside it is no page
        source[0] = re.sub(r"\]\((?!https?:|#)", "](../", pages).replace("](../docs/", "](") + "\n" + source[0]


def setup(app: Sphinx) -> None:
    app.connect("source-read", front_page)
