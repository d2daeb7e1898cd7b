"""The command line and the Python script that make what the page made."""

from __future__ import annotations

import json
import shlex

from alphalift.web.choice import Choice

MECHANISM, RELEASED, REPORT, PUBLIC, KEY = "mechanism.json", "released.csv", "report.html", "public.html", "release.key"


def named(table: str) -> str:
    """A table's name as a command takes it: no option, whatever it begins with."""
    return f"./{table}" if table.startswith("-") else table


def commands(choice: Choice, table: str, *, released: dict[str, str] | None = None) -> list[str]:
    """One line for each step; `released` has the id column, if a table was released: empty for one without ids."""
    columns = choice.columns
    design = ["alphalift", "design", named(table)]
    for option, values in (("--sensitive", columns.sensitive), ("--useful", columns.useful)):
        design += [word for name in values for word in _option(option, name)]
    design += ["--alpha", choice.alpha, "--epsilon", choice.epsilon]
    design += [word for text in columns.bins for word in _option("--bins", text)]
    design += ["--drop-missing"] * columns.drop_missing
    design += ["--population" if choice.everybody else "--no-advice", "--out", MECHANISM]
    report = ["alphalift", "report", MECHANISM, "--curve-seconds", "0", "--out", REPORT]
    lines = [design]
    if released is not None:
        apply = ["alphalift", "apply", MECHANISM, named(table), "--out", RELEASED]
        apply += [*_option("--id", released["id"]), "--key", KEY] if released["id"] else ["--one-shot"]
        lines.append(apply)
        report += ["--released", RELEASED]
    return [shlex.join(line) for line in [*lines, report]]


def _option(option: str, value: str) -> list[str]:
    """In one word where the value begins like an option."""
    return [f"{option}={value}"] if value.startswith("-") else [option, value]


def shell(choice: Choice, table: str, *, released: dict[str, str] | None = None) -> str:
    """The commands as a file to run."""
    head = "#!/bin/sh\n# What the page of alphalift did, again.\nset -eu\n"
    return head + "\n".join(commands(choice, table, released=released)) + "\n"


def script(choice: Choice, table: str) -> str:
    """The design in Python: the same file, byte for byte."""
    columns, declared = choice.columns, choice.columns.declared
    names = [*columns.sensitive, *columns.useful]
    read = [_text(table), f"sensitive={_list(columns.sensitive)}", f"useful={_list(columns.useful)}"]
    imports = ["AlphaLift", "Optimal", "design", "read_joint", "save", "to_document"]
    if columns.drop_missing:
        read.append('missing="drop"')
    if declared.bins:
        edges = ", ".join(
            f"{_text(column)}: {own if isinstance(own, list) else f'Quantiles({own.count})'}"
            for column, own in declared.bins.items()
        )
        read.append(f"bins={{{edges}}}")
        imports += [] if all(isinstance(own, list) for own in declared.bins.values()) else ["Quantiles"]
    return "\n".join(
        [
            '"""What the page of alphalift did, again: the same mechanism, in the same file."""',
            "",
            f"from alphalift import {', '.join(sorted(imports, key=lambda name: (name.islower(), name)))}",
            "from alphalift.tasks import Wish",
            "",
            f"joint = read_joint({', '.join(read)})",
            f'promise = AlphaLift(alpha="{choice.alpha}", epsilon="{choice.epsilon}")',
            _meant(choice.everybody),
            f"wish = Wish.of(promise, joint, confidence=None, everybody={choice.everybody}, after=False)",
            f"solution = design(joint, wish.asked, solver=Optimal(time_limit=60.0), source={_text(declared.source(names))})",
            f'save(to_document(wish.told(solution)), "{MECHANISM}")',
            "",
        ]
    )


def _meant(everybody: bool) -> str:
    if everybody:
        return "# The table is everybody: the promise is about its records, and about nobody else."
    return "# The table is a random sample: where a margin for chance is known, the promise is kept for the people behind it, too."


def _list(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_text, texts))}]"


def _text(text: str) -> str:
    """A text as Python reads it, in ASCII: JSON's form, which Python has, too, but for surrogate pairs."""
    return json.dumps(text) if text.isascii() else ascii(text)
