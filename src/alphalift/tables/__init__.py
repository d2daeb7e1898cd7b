"""Tables: every kind behind one interface, counting, symbols and bins, and writers."""

from alphalift.tables.bins import bin_edges
from alphalift.tables.base import Source, Table, in_our_words
from alphalift.tables.columns import decoded, require, require_countable
from alphalift.tables.counting import count_batches
from alphalift.tables.opening import open_table
from alphalift.tables.read import Columns, read_joint
from alphalift.tables.spark import SparkFrame
from alphalift.tables.symbols import MISSING, Symbols, canonical_texts, label_of
from alphalift.tables.write import InMemory, Writer, names_a_file, open_writer, refuse_formulas

__all__ = [
    "MISSING",
    "Columns",
    "InMemory",
    "Source",
    "SparkFrame",
    "Symbols",
    "Table",
    "Writer",
    "bin_edges",
    "canonical_texts",
    "count_batches",
    "decoded",
    "in_our_words",
    "label_of",
    "names_a_file",
    "open_table",
    "open_writer",
    "read_joint",
    "refuse_formulas",
    "require",
    "require_countable",
]
