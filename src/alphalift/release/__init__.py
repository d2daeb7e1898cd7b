"""From tables to joints."""

from alphalift.release.read import MISSING, read_joint

__all__ = ["MISSING", "read_joint"]
