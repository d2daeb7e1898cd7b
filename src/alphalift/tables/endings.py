"""What the ending of a file's name says about its format."""

from __future__ import annotations

from pathlib import Path

DELIMITERS = {".csv": ",", ".tsv": "\t"}


def ending_of(name: str | Path) -> tuple[str, bool]:
    """The last ending in small letters, and whether .gz stood behind it: x.tsv.csv is CSV, x.TSV.gz packed TSV."""
    path = Path(name)
    packed = path.suffix.lower() == ".gz"
    return (path.with_suffix("") if packed else path).suffix.lower(), packed


def is_writable(name: str) -> bool:
    """Whether files of this name can be written: .csv and .tsv, also packed, and .parquet."""
    ending, packed = ending_of(name)
    return ending in DELIMITERS or (ending == ".parquet" and not packed)
