"""How a codebook is read, in words that stand in it: labels, texts by column, codes. Only what occurs is explained."""

from __future__ import annotations

from collections.abc import Sequence

from alphalift.labels import Words
from alphalift.release.outputs import Outputs
from alphalift.tables import MISSING

_FIGURES = {
    "p_y_given_x": "how often a value becomes this output; told to about the standard error that it has among the records of one value",
    "p_x_estimated": "how common each value is, estimated from the released rows by maximum likelihood; not counted",
    "p_x_given_y_estimated": "what the records with this output are, by Bayes' rule from the two above",
}


def notes(outputs: Outputs, x_labels: Sequence[str]) -> dict[str, str]:
    """What the entries of a codebook mean, for somebody who has nothing else."""
    words = Words.beside(x_labels)
    explained = {"label": f"what an output says of a record with it. {_signs(words)}", **_FIGURES}
    if any(MISSING in label for label in x_labels):
        explained[MISSING] = "an empty cell (null or NaN) of the table, which is a value like others"
    # A column called "code" gives it a longer name.
    for code in (name for name, texts in outputs.written.items() if texts is None):
        explained[code] = "the number of the output, `code` in `outputs`: it stands for the whole combination"
    if outputs.combinations:
        explained["combinations"] = (
            "those that the label names, each with its values in the order of `columns`. In a label commas stand between the "
            "values of a combination, and a comma or backslash inside of a value has a backslash before it"
        )
    if outputs.texts:
        explained["texts"] = (
            "what is written for the output in each column, read like a label. The texts of two columns, 'A | B' and "
            "'C | D', do not say which of them belong together: `combinations` does" + _other_words(outputs, words)
        )
    return explained


def _signs(words: Words) -> str:
    return (
        f"'A': it is A. 'A{words.sign}B': one of them, and no other of `values`. '{words.mostly}A': two thirds or more of its "
        f"rows are A, in a table like the one that was designed for, the others are not. '{words.often}A': the same for less than "
        "two thirds. A number at the end, ' (2)', tells outputs apart that say the same. Records with a value that is not among "
        "`values` may have any output"
    )


def _other_words(outputs: Outputs, usual: Words) -> str:
    """Where the values of a column look like our signs, its texts have others."""
    others = ""
    for column, words in zip(outputs.variable.columns, outputs.words, strict=True):
        if words != usual:
            others += f". In {column!r}: {_signs(words)}"
    return others
