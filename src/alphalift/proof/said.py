"""What a file says about the population, beside what it proves: a statement in its provenance, named as one.

The checker knows the counts in the file and nothing else. Whether they are everybody, or a random sample and of how many, no
proof can tell; whoever designed the mechanism says it, and who reads the file is told that it was said.
"""

from __future__ import annotations

from typing import Any

# A statement is the first part of the settings: no column's name, which may come later, is taken for one.
_PREFIX, _BETWEEN = "population: ", "; "
EVERYBODY = "the table is everybody, says who designed it: the promise is about all of them, and about nobody else"


def with_statement(settings: str, statement: str) -> str:
    """Settings that say it, in place of what they said before; as they are without a statement."""
    rest = settings
    if before := statement_in(settings):
        rest = settings[len(_PREFIX + before + _BETWEEN) :]
    if not statement:
        return rest
    return _BETWEEN.join(filter(None, [_PREFIX + statement.replace(_BETWEEN, ", "), rest]))


def statement_in(settings: str) -> str:
    """What settings say about the population; nothing where they do not."""
    first = settings.split(_BETWEEN)[0]
    return first.removeprefix(_PREFIX) if first.startswith(_PREFIX) else ""


def line_about(document: dict[str, Any]) -> str:
    """For a reader of a file whose claims are proven: what it says of the population, without control characters."""
    said = statement_in(document["provenance"]["solver"])
    text = said or "nothing is said of it; what is proven is about the counts in the file"
    return f"population: {''.join(letter if letter.isprintable() else '?' for letter in text)}"
