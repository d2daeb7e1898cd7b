"""How the pages become a site: `make docs`. Nothing in it is loaded from elsewhere, and every warning is an error."""

import importlib.metadata
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project, author = "alphalift", "the authors of alphalift"
html_show_copyright = False
release = importlib.metadata.version("alphalift")
extensions = ["myst_parser", "public"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"alphalift {release}"
html_static_path = ["style"]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = False
html_theme_options = {"top_of_page_buttons": []}
maximum_signature_line_length = 88
python_use_unqualified_type_names = True
