"""The directives of the reference, as Sphinx has them.

    :::{public} design
    :::

is what a public name is, from its docstring; `{names} alphalift` is the list of all.
"""

from __future__ import annotations

import re
from importlib import import_module
from types import ModuleType

from docstrings import first_sentence, markdown
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Public(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        text = "\n".join(markdown(self.arguments[0]))
        return self.parse_text_to_nodes(re.sub(r"\bdocs/(\w+)\.md", r"[\1](../\1.md)", text))


class Names(SphinxDirective):
    """All names of the package with their first sentences, each a link to its place."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        package = import_module(self.arguments[0])
        lines = ["| name | what |", "|---|---|"]
        for name in sorted(package.__all__, key=str.lower):
            kind = "mod" if isinstance(getattr(package, name), ModuleType) else "obj"
            sentence = first_sentence(getattr(package, name)).replace("|", "\\|")
            lines.append(f"| {{py:{kind}}}`~{self.arguments[0]}.{name}` | {sentence} |")
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("public", Public)
    app.add_directive("names", Names)
    return {"parallel_read_safe": True}
