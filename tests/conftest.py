"""Hypothesis runs the same examples every time; benchmarks/ holds the outside reference."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "benchmarks")]

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("repeatable")
