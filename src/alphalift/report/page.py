"""One page of HTML: no script, nothing from outside, readable on dark and on light, by eyes, ears and printers.

Texts go through `as_text` here and nowhere else: who writes a section gives plain text, or what these functions return.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from alphalift.show.text import as_text


@dataclass(frozen=True)
class Html:
    """A piece of HTML that is safe to put between tags: made by this module or `pictures`."""

    code: str


Text = str | Html


@dataclass(frozen=True)
class Section:
    """A heading, its anchor, and what stands below it."""

    anchor: str
    title: str
    parts: Sequence[Html]


def page(title: str, note: str, head: Sequence[Html], sections: Sequence[Section], foot: str) -> str:
    """The whole file."""
    contents = "".join(f'<li><a href="#{own.anchor}">{as_text(own.title)}</a></li>' for own in sections)
    body = "".join(
        f'<section aria-labelledby="{own.anchor}"><h2 id="{own.anchor}">{as_text(own.title)}</h2>'
        f"{''.join(part.code for part in own.parts)}</section>\n"
        for own in sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{as_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<header><h1>{as_text(title)}</h1><p class="note">{as_text(note)}</p></header>\n'
        f'<nav aria-label="Contents"><ol>{contents}</ol></nav>\n'
        f"<main>{''.join(part.code for part in head)}\n{body}</main>\n"
        f"<footer><p>{as_text(foot)}</p></footer>\n</body>\n</html>\n"
    )


def cell(text: Text) -> str:
    """The text as HTML."""
    return text.code if isinstance(text, Html) else as_text(text)


def paragraph(text: Text, *, kind: str = "") -> Html:
    """What stands between backticks is code."""
    told = re.sub("`([^`]+)`", r"<code>\1</code>", cell(text))
    return Html(f"<p{_class(kind)}>{told}</p>\n") if told else Html("")


def code(text: str) -> Html:
    """What is typed."""
    return Html(f"<code>{as_text(text)}</code>")


def sentences(lines: Sequence[str]) -> Html:
    """Paragraphs, of which those that begin with "  - " are a list."""
    told, listed = "", ""
    for line in lines:
        if line.startswith("  - "):
            listed += f"<li>{as_text(line.removeprefix('  - '))}</li>"
            continue
        told += (f"<ul>{listed}</ul>" if listed else "") + f"<p>{as_text(line)}</p>"
        listed = ""
    return Html(told + (f"<ul>{listed}</ul>" if listed else "") + "\n")


def figures(cards: Sequence[tuple[str, str]]) -> Html:
    """Numbers in large letters, each with what it is."""
    told = "".join(f"<div><dd>{as_text(number)}</dd><dt>{as_text(what)}</dt></div>" for number, what in cards)
    return Html(f'<dl class="figures">{told}</dl>\n')


def facts(told: Mapping[str, Text]) -> Html:
    """Names and what they are."""
    return Html(
        '<dl class="facts">'
        + "".join(f"<div><dt>{as_text(name)}</dt><dd>{cell(own)}</dd></div>" for name, own in told.items())
        + "</dl>\n"
    )


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Text]], *, left: Iterable[int] = (0,)) -> Html:
    """A table whose first column has the rows' names; columns in `left` are texts, the others numbers."""
    lefts = set(left)

    def kind(place: int) -> str:
        return "" if place in lefts else ' class="number"'

    top = "".join(f'<th scope="col"{kind(place)}>{as_text(own)}</th>' for place, own in enumerate(head))
    body = "".join(
        "<tr>"
        + f'<th scope="row">{cell(row[0])}</th>'
        + "".join(f"<td{kind(place)}>{cell(own)}</td>" for place, own in enumerate(row) if place)
        + "</tr>\n"
        for row in rows
    )
    return _scrolling(
        f"<table><caption>{as_text(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>",
        caption,
    )


def picture(svg: Html, caption: str) -> Html:
    """A picture with words below it."""
    return Html(f"<figure>{_scrolling(svg.code, caption).code}<figcaption>{as_text(caption)}</figcaption></figure>\n")


def _scrolling(inside: str, name: str) -> Html:
    """What is too wide for a phone moves in its own box, by keys as well."""
    return Html(f'<div class="wide" role="region" aria-label="{as_text(name)}" tabindex="0">{inside}</div>\n')


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"  # no script at all
_STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--quiet:#57606a;--ground:#fff;--card:#f5f7f9;--line:#d5dae0;--accent:#2f5f9e}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ee;--quiet:#a3acb8;--ground:#14171b;--card:#1e232a;--line:#39414b;--accent:#8ab4ee}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1rem 3rem;max-width:60rem;background:var(--ground);color:var(--ink);
font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.75rem;line-height:1.2;margin:0 0 .4rem}
h2{font-size:1.25rem;line-height:1.3;margin:2.4rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--line)}
p{margin:.5rem 0;max-width:46rem}ul{margin:.4rem 0;padding-left:1.3rem}li{margin:.25rem 0;max-width:46rem}
a{color:var(--accent)}a:focus-visible,.wide:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
code{font:.9em ui-monospace,"Liberation Mono",Menlo,monospace;background:var(--card);border-radius:3px;padding:.1em .3em}
.note,footer,figcaption,.quiet{color:var(--quiet)}figcaption,caption,footer{font-size:.875rem}
.lead{font-size:1.1rem}
nav ol{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin:1rem 0;padding:0;list-style:none;font-size:.9rem}nav li{margin:0}
dl{margin:1rem 0}dd{margin:0}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));gap:.75rem}
.figures div{display:flex;flex-direction:column;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.7rem .9rem}
.figures dd{font-size:1.6rem;font-weight:650;line-height:1.3;font-variant-numeric:tabular-nums}
.figures dt{font-size:.875rem;color:var(--quiet)}
.facts div{display:grid;grid-template-columns:minmax(7rem,12rem) 1fr;gap:.2rem 1rem;padding:.3rem 0;border-bottom:1px solid var(--line)}
.facts dt{color:var(--quiet)}
figure{margin:1rem 0}.wide{overflow-x:auto}
figure .wide{background:#fff;border:1px solid var(--line);border-radius:8px;padding:.6rem}
svg{display:block;height:auto;margin:0 auto}svg *{stroke-linejoin:round;stroke-linecap:butt}
@media (prefers-color-scheme:dark){figure .wide{filter:brightness(.88)}}
table{border-collapse:collapse;margin:.8rem 0;font-size:.9rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
caption{text-align:left;color:var(--quiet);padding-bottom:.3rem}
th,td{text-align:left;vertical-align:top;padding:.25rem .9rem .25rem 0;border-bottom:1px solid var(--line);font-weight:normal}
thead th{font-weight:600}.number{text-align:right;white-space:nowrap}
footer{margin-top:3rem;border-top:1px solid var(--line)}
@media print{:root{color-scheme:light;--ink:#000;--quiet:#444;--ground:#fff;--card:#fff;--line:#bbb;--accent:#000}
body{max-width:none;padding:0;font-size:10.5pt}nav{display:none}h2{break-after:avoid}figure,tr,.figures div{break-inside:avoid}
.wide{overflow:visible}figure .wide{filter:none;border:0;padding:0}svg{min-width:0!important;max-height:22cm}@page{margin:1.8cm}}
""".replace("\n", "")
