"""What a steward should know of a table before anything is designed for it: few records, small cells, groups seen a few times.

For whoever holds the table alone: the lines tell numbers of cells and names of groups, and no count.
"""

from __future__ import annotations

from collections.abc import Sequence

from alphalift.joint import Joint
from alphalift.show.text import printable

# What official statistics call few: records of a table, records of a group, records of a cell.
FEW_RECORDS, FEW_OF_GROUP, SMALL_CELL = 200, 30, 5
_MOST_NAMES = 3


def cautions(joint: Joint, *, secret: str, useful: str) -> list[str]:
    """Lines that begin with "Caution"; none for a joint of probabilities, or where all is well."""
    if joint.n is None:
        return []
    secret, useful = printable(secret), printable(useful)
    lines = []
    if joint.n < FEW_RECORDS:
        lines.append(
            f"Caution, few records: there are fewer than {FEW_RECORDS}, so that chance decides much of what is designed for them."
        )
    rare = [label for label, own in zip(joint.s_labels, joint.s_weights, strict=True) if own < FEW_OF_GROUP]
    if rare:
        lines.append(
            f"Caution, rare groups: {_named(rare)} of {secret} {'has' if len(rare) == 1 else 'have'} fewer than {FEW_OF_GROUP} records; what "
            f"{useful} tells about such a group is hardly known from so few."
        )
    cells = [count for row in joint.weights for count in row]
    small = sum(0 < count < SMALL_CELL for count in cells)
    if small:
        lines.append(
            f"Caution, small cells: {small} of the {len(cells)} combinations of {secret} and {useful} have 1 to {SMALL_CELL - 1} records, so that "
            "the mechanism's file says something about single people; keep it private, or share it with --withhold."
        )
    once = sum(sum(row[x] for row in joint.weights) < SMALL_CELL for x in range(len(joint.x_labels)))
    if once:
        lines.append(
            f"Caution, rare values: {once} of the {len(joint.x_labels)} values of {useful} occur in fewer than {SMALL_CELL} records; --bins, or "
            "fewer values, would serve the receiver better."
        )
    return lines


def _named(labels: Sequence[str]) -> str:
    more = len(labels) - _MOST_NAMES
    names = ", ".join(map(printable, labels[:_MOST_NAMES]))
    return f"{names}{f' and {more} more' if more > 0 else ''}"
