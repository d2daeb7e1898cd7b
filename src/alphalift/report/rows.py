"""The rows of a release: how many, how often each output, and what the manifest beside them says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alphalift.errors import InputError
from alphalift.release import written_beside
from alphalift.release.outputs import Outputs
from alphalift.release.received import Readable
from alphalift.report.filed import Filed
from alphalift.report.page import Html, Text, facts, paragraph, table

# Of more outputs the most frequent ones have a row.
_MOST = 60
# What is told of a manifest, by the names that it has there; all of it is public.
_TOLD = ("promise", "covers", "written_as", "ids", "repeated_ids", "namespace", "draws", "kept_columns", "package")


@dataclass(frozen=True)
class ReleasedRows:
    """What anybody can count in a released table, and its manifest; none where there is none beside it."""

    name: str
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    manifest: dict[str, Any] | None

    @classmethod
    def read(cls, path: Path, filed: Filed) -> ReleasedRows:
        if not path.exists():
            raise InputError(f"{path}: there is no such file; expected a table as `alphalift apply` writes it")
        readable = Readable.of_mechanism(filed.stored.integers, filed.stored.joint.useful)
        counts = tuple(int(count) for count in readable.counts(path))
        if not sum(counts):
            raise InputError(f"{path} has no rows; expected a table as `alphalift apply` writes it")
        outputs = Outputs.of(filed.stored.integers, filed.stored.joint.useful)
        return cls(path.name, outputs.labels, counts, _manifest(written_beside(path)[1], sum(counts)))

    @property
    def rows(self) -> int:
        return sum(self.counts)

    def frequencies(self, expected: list[float] | None = None) -> list[Html]:
        """How often each output was released; beside the mechanism's own P(y), if that is given."""
        order = sorted(range(len(self.labels)), key=lambda y: -self.counts[y])
        head = ["output", "rows", "share", *(["the mechanism's P(y)"] if expected else [])]
        rows = [
            [
                self.labels[y],
                str(self.counts[y]),
                f"{self.counts[y] / self.rows:.2%}",
                *([f"{expected[y]:.2%}"] if expected else []),
            ]
            for y in order[:_MOST]
        ]
        left = len(order) - len(rows)
        more = f"{left} outputs that are rarer are not listed." if left else ""
        return [table(f"{self.rows} released records by output", head, rows), paragraph(more, kind="quiet")]

    def told(self) -> list[Html]:
        """What the manifest says, as it says it."""
        if self.manifest is None:
            return [paragraph("There is no manifest beside the file, which would say how it was made.")]
        known: dict[str, Text] = {
            name.replace("_", " "): _words(self.manifest[name]) for name in _TOLD if self.manifest.get(name)
        }
        return [paragraph("What the manifest beside the file says, which nobody has signed:"), facts(known)]


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _manifest(path: Path, rows: int) -> dict[str, Any] | None:
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("format") != "alphalift-release":
        raise InputError(f"{path} is no manifest as `alphalift apply` writes it")
    if found.get("rows") not in (None, rows):
        raise InputError(f"{path} is of another release: it says another number of rows than the table has")
    return found
