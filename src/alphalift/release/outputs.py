"""What is written for an output: its label, or for several columns a text for each of them, and its code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from alphalift.errors import TableError
from alphalift.joint import Variable
from alphalift.labels import How, Words, unlike
from alphalift.proof.checker import Integers
from alphalift.tables.symbols import Key, key_of


@dataclass(frozen=True)
class Outputs:
    """The outputs of a mechanism as they are written: labels, and by column one text for every output.

    `texts` is empty where a single column is released, or where two outputs would have the same texts: then label and
    code stand for the output. Else the texts of an output are its own, and say as much as its code. `combinations` are those
    that each output's label names, and `words` how the texts of each column are written; empty for a single column.
    """

    variable: Variable
    labels: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...] = ()
    combinations: tuple[tuple[Key, ...], ...] = ()
    words: tuple[Words, ...] = ()

    @classmethod
    def of(cls, integers: Integers, variable: Variable) -> Outputs:
        """The outputs of these integers, which release this variable."""
        x_labels, width = integers.labels["x"], len(variable.columns)
        words = Words.beside(x_labels)
        numbers = {x: number for number, x in enumerate(x_labels)}
        pairs = zip(integers.labels["y"], integers.weights, strict=True)
        named = [_Named.of(label, frozenset(row), words.read(label, numbers), words) for label, row in pairs]
        labels = unlike([own.label for own in named], x_labels, itself=[own.itself for own in named])
        keys = _keys(x_labels, width) if width > 1 else None
        if keys is None:
            return cls(variable, labels)
        columns = [[key[i] for key in keys] for i in range(width)]
        texts = [_column(named, values) for values in columns]
        written = tuple(text for text in texts if text is not None)
        apart = len(written) == width and len(set(zip(*written, strict=True))) == len(labels)
        combinations = tuple(tuple(keys[x] for x in sorted(own.names)) for own in named)
        return cls(variable, labels, written if apart else (), combinations, tuple(map(Words.beside, columns)))

    @property
    def codes(self) -> range:
        """The code of every output, in the order of the mechanism's rows."""
        return range(1, len(self.labels) + 1)

    def columns(self) -> list[str]:
        """The names of the columns that are written."""
        return list(self.written)

    def arrays(self, numbers: NDArray[np.integer]) -> dict[str, pa.Array]:
        """The written columns of records with these outputs (numbers from 0): texts dictionary-encoded, codes as integers."""
        arrays = {}
        for name, (places, distinct) in self._encoded.items():
            taken = pa.array(places[numbers])
            arrays[name] = taken if distinct is None else pa.DictionaryArray.from_arrays(taken, distinct)
        return arrays

    @cached_property
    def written(self) -> dict[str, tuple[str, ...] | None]:
        """What stands for every output in every written column; none for the code."""
        columns = self.variable.columns or ("X",)
        if len(columns) == 1:
            return {f"released {columns[0]}": self.labels}
        if self.texts:
            texts = {f"released {column}": own for column, own in zip(columns, self.texts, strict=True)}
        else:
            texts = {f"released {' and '.join(columns)}": self.labels}
        code = "released code"
        while code in texts:
            code += " of the output"
        return {**texts, code: None}

    @cached_property
    def _encoded(self) -> dict[str, tuple[NDArray[np.int32], pa.Array | None]]:
        """By column the place of every output's text among the distinct ones, and these; or the codes."""
        encoded = {}
        for name, texts in self.written.items():
            distinct = {text: place for place, text in enumerate(dict.fromkeys(texts or ()))}
            places = np.array([distinct[text] for text in texts] if texts is not None else self.codes, np.int32)
            encoded[name] = (places, None if texts is None else pa.array(list(distinct), pa.string()))
        return encoded


@dataclass(frozen=True)
class _Named:
    """An output: its label, the x's that this names (all that it can come from, if it names none), and how."""

    label: str
    names: frozenset[int]
    how: How
    support: frozenset[int]

    @classmethod
    def of(cls, label: str, support: frozenset[int], said: tuple[frozenset[int], How] | None, words: Words) -> _Named:
        """A label of version 1 may be plain although the output need not come from what it names: it gets its word here."""
        names, how = said or (support, "only")
        if how == "only" and not support <= names:
            return cls(words.mostly + label, names, "mostly", support)
        return cls(label, names, how, support)

    @property
    def itself(self) -> bool:
        """Whether it is one value of X, and nothing else."""
        return self.how == "only" and len(self.support) == 1


def _column(named: Sequence[_Named], values: Sequence[str]) -> tuple[str, ...] | None:
    """The text of every output for one column, where `values` has its value in every x.

    The word of the label stays unless this column alone can have no other values than the named ones. None where a text
    would be a value that the output need not have.
    """
    words, texts = Words.beside(values), []
    for own in named:
        names = dict.fromkeys(values[x] for x in sorted(own.names))
        certain = all(values[x] in names for x in own.support)
        text = words.before("only" if certain else own.how) + words.sign.join(names)
        if text in values and not (certain and len(names) == 1):
            return None
        texts.append(text)
    return tuple(texts)


def _keys(x_labels: Sequence[str], width: int) -> list[Key] | None:
    """Every x as a combination of so many values; none where the labels are not those of combinations."""
    try:
        return [key_of(label, width) for label in x_labels]
    except TableError:
        return None
