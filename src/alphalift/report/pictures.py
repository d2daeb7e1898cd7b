"""Figures as SVG inside of a page: letters are outlines, so no text of a label is in them, and ids belong to one figure."""

from __future__ import annotations

import io
import re
import warnings
from xml.etree import ElementTree

from matplotlib import rc_context
from matplotlib.figure import Figure

from alphalift.report.page import Html
from alphalift.show.text import as_text

_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
# Nothing else is drawn; a style sheet in a picture would be the page's.
_DRAWN = {"svg", "g", "path", "use", "defs", "clipPath", "rect", "image", "circle"}
# Of a figure's own width: what it may shrink to before it moves in its box instead.
_SHRUNK = 0.7


def as_svg(figure: Figure, name: str, told: str) -> Html:
    """The figure; `name` begins its ids, `told` is what it says to who does not see it. Equal figures are equal texts."""
    file = io.BytesIO()
    with rc_context({"svg.hashsalt": "alphalift", "svg.fonttype": "path"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph ")  # it would say which letters of a label the font does not have
        figure.savefig(file, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(file.getvalue())  # our own; comments, which have texts, are left out
    _clean(root, f"{name}-")
    wide = float(root.get("viewBox", "0 0 0 0").split()[2]) * 4 / 3  # points as pixels
    view = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib |= {"viewBox": view, "role": "img", "aria-label": "", "style": _size(wide)}
    text = ElementTree.tostring(root, encoding="unicode")
    return Html(text.replace('aria-label=""', f'aria-label="{as_text(told)}"', 1))


def _size(wide: float) -> str:
    return f"width:100%;max-width:{wide:.0f}px;min-width:{_SHRUNK * wide:.0f}px"


def _clean(element: ElementTree.Element, prefix: str) -> None:
    """Leave what draws, without names of spaces; ids and references to them get the prefix."""
    element.tag = element.tag.removeprefix(_SVG)
    element.text = element.tail = None
    for key in list(element.attrib):
        value = element.attrib.pop(key)
        if key == "id":
            value = prefix + value
        if key == _LINK:
            key, value = "href", re.sub(r"^#", f"#{prefix}", value)
        element.set(key, re.sub(r"url\(#", f"url(#{prefix}", value))
    for child in list(element):
        if child.tag.removeprefix(_SVG) in _DRAWN:
            _clean(child, prefix)
        else:
            element.remove(child)
