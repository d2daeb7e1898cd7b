"""Tables: every kind behind one interface, counting, symbols and bins, and writers."""

from alphalift.tables.base import Source, Table, in_our_words
from alphalift.tables.bins import bin_edges, bin_labels
from alphalift.tables.columns import decoded, plain, plain_batch, require, require_countable
from alphalift.tables.counting import count_batches
from alphalift.tables.endings import is_writable
from alphalift.tables.file import TableFile
from alphalift.tables.formulas import refuse_formulas
from alphalift.tables.frames import like
from alphalift.tables.opening import open_table
from alphalift.tables.quantiles import Quantiles
from alphalift.tables.read import Columns, read_joint
from alphalift.tables.spark import SparkFrame
from alphalift.tables.symbols import MISSING, Symbols, canonical_texts, key_of, label_of
from alphalift.tables.write import InMemory, Writer, names_a_file, open_writer, require_writable

__all__ = [
    "MISSING",
    "Columns",
    "InMemory",
    "Quantiles",
    "Source",
    "SparkFrame",
    "Symbols",
    "Table",
    "TableFile",
    "Writer",
    "bin_edges",
    "bin_labels",
    "canonical_texts",
    "count_batches",
    "decoded",
    "in_our_words",
    "is_writable",
    "key_of",
    "label_of",
    "like",
    "names_a_file",
    "open_table",
    "open_writer",
    "plain",
    "plain_batch",
    "read_joint",
    "refuse_formulas",
    "require",
    "require_countable",
    "require_writable",
]
