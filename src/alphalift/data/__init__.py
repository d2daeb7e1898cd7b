"""Real data for demonstrations and tests: 32,561 people of the 1994 US census.

UCI "Adult", B. Becker and R. Kohavi, 1996, licensed CC BY 4.0, https://doi.org/10.24432/C5XW20. Changes: a
person_id was added, some columns were left out, and unknown values are empty cells.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def adult() -> Path:
    """The path of the census table, a gzipped CSV file."""
    return Path(str(files("alphalift.data") / "adult.csv.gz"))
