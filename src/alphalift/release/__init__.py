"""From mechanisms to released tables."""

from alphalift.release.apply import ONE_NAMESPACE, Released, release
from alphalift.release.codebook import codebook, manifest
from alphalift.release.keys import new_key, read_key
from alphalift.release.ledger import Composition, Ledger

__all__ = [
    "ONE_NAMESPACE",
    "Composition",
    "Ledger",
    "Released",
    "codebook",
    "manifest",
    "new_key",
    "read_key",
    "release",
]
