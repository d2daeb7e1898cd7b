"""What the reference says about a public name: its docstring, which is Markdown, with its members."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

PACKAGES = ("alphalift", "alphalift.release", "alphalift.report", "alphalift.learn")


def found(name: str) -> tuple[str, Any]:
    """The package that offers a public name, and what it is."""
    for package in PACKAGES:
        if name in import_module(package).__all__:
            return package, getattr(import_module(package), name)
    raise KeyError(f"{name} is no public name of {', '.join(PACKAGES)}")


def first_sentence(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")


def markdown(name: str) -> Iterator[str]:
    """What the reference says about a public name."""
    package, thing = found(name)
    if isinstance(thing, ModuleType):
        yield from _module(package, name, thing)
        return
    if not callable(thing):
        yield f":::{{py:data}} {name}\n:module: {package}\n:::"
        return
    kind = "function"
    if inspect.isclass(thing):
        kind = "exception" if issubclass(thing, Exception) else "class"
    call = "" if kind == "exception" or (kind == "class" and issubclass(thing, enum.Enum)) else _call(thing)
    yield f"::::{{py:{kind}}} {name}{call}"
    yield f":module: {package}"
    yield ""
    yield from (inspect.getdoc(thing) or "").splitlines()
    yield ""
    if kind == "class":
        yield from _values(thing) if issubclass(thing, enum.Enum) else _members(thing)
    yield "::::"


def _call(function: Any) -> str:
    """The arguments with the text of their annotations, not its repr; without the object itself."""
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=_Text(parameter.annotation))
        for name, parameter in signature.parameters.items()
        if not name.startswith("_") and name not in ("self", "cls")
    ]
    returned = signature.return_annotation
    plain = "" if inspect.isclass(function) or returned is inspect.Signature.empty else f" -> {_Text(returned)!r}"
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)) + plain


class _Text:
    """An annotation that is printed as it was written."""

    def __new__(cls, annotation: Any) -> Any:
        return annotation if annotation is inspect.Parameter.empty else super().__new__(cls)

    def __init__(self, annotation: Any) -> None:
        self.text = annotation.strip("'\"") if isinstance(annotation, str) else inspect.formatannotation(annotation)

    def __repr__(self) -> str:
        return self.text


def _members(thing: type) -> Iterator[str]:
    """What the class adds to its public bases."""
    known = {
        name for base in thing.__mro__[1:] if base.__name__ in import_module("alphalift").__all__ for name in vars(base)
    }
    for name, member in vars(thing).items():
        function = getattr(member, "__func__", None) or getattr(member, "func", None) or getattr(member, "fget", member)
        if name.startswith("_") or name in known or not callable(function) or not inspect.getdoc(function):
            continue
        called = function is member or isinstance(member, (classmethod, staticmethod))
        yield f":::{{py:{'method' if called else 'attribute'}}} {name}{_call(function) if called else ''}"
        yield ""
        yield from (inspect.getdoc(function) or "").splitlines()
        yield ":::"
        yield ""


def _values(thing: type[enum.Enum]) -> Iterator[str]:
    for member in thing:
        yield f"- `{thing.__name__}.{member.name}`: {member.value}"
    yield ""


def _module(package: str, name: str, module: ModuleType) -> Iterator[str]:
    yield f":::{{py:module}} {package}.{name}"
    yield ":::"
    yield ""
    yield from (inspect.getdoc(module) or "").splitlines()
    yield ""
    yield "| name | what |"
    yield "|---|---|"
    for entry in module.__all__:
        yield f"| `{entry}` | {first_sentence(getattr(module, entry)).replace('|', chr(92) + '|')} |"
    yield ""
