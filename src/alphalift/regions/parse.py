"""Promises as text: `AlphaLift(10, 0.3) & MaxLift(1)`, as people type them and `repr` writes them."""

from __future__ import annotations

import ast
from difflib import get_close_matches

from alphalift.errors import PromiseError
from alphalift.regions.alpha_lift import AlphaLift
from alphalift.regions.base import Region
from alphalift.regions.chi_square import ChiSquare
from alphalift.regions.kl import KL
from alphalift.regions.ldp import LDP
from alphalift.regions.lip import LIP
from alphalift.regions.max_lift import MaxLift
from alphalift.regions.on_average import OnAverage
from alphalift.regions.pml import PML
from alphalift.regions.renyi import Renyi
from alphalift.regions.total_variation import TotalVariation

PROMISES: dict[str, type[Region]] = {
    promise.__name__: promise for promise in (AlphaLift, MaxLift, PML, LIP, LDP, TotalVariation, ChiSquare, KL, Renyi)
}
_LONGEST = 1000
_NAMES = (*PROMISES, "OnAverage")
_HOW = f"write for instance 'AlphaLift(10, 0.3)', 'LIP(lower=0.5, upper=0.2)' or 'OnAverage(KL(0.1)) & MaxLift(1)'; there are {', '.join(_NAMES)}"


def as_region(given: object) -> Region:
    """The promise that is given as itself or as its text."""
    if isinstance(given, str):
        return parse(given)
    if isinstance(given, Region):
        return given
    if isinstance(given, type) and issubclass(given, Region):
        raise PromiseError(f"{given.__name__} is a kind of promise, without its numbers: give one like MaxLift(0.3)")
    raise PromiseError(f"expected a promise like MaxLift(0.3), or its text, not {type(given).__name__}")


def parse(text: str) -> Region:
    """The region that a text names; numbers keep the digits that were typed."""
    try:
        if len(text) > _LONGEST:
            raise ValueError
        return _region(ast.parse(text.strip(), mode="eval").body, text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError) as error:
        if isinstance(error, PromiseError):
            raise
        raise PromiseError(f"the promise cannot be read: {_HOW}") from None


def _region(node: ast.expr, text: str) -> Region:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
        return _region(node.left, text) & _region(node.right, text)
    if isinstance(node, ast.Name) and node.id in _NAMES:
        raise PromiseError(f"{node.id} is a kind of promise, without its numbers: {_HOW}")
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise PromiseError(f"the promise cannot be read: {_HOW}")
    name = node.func.id
    if name == "OnAverage":
        (of,) = (*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "of"))
        return OnAverage(_region(of, text))
    if name in PROMISES:
        named = {keyword.arg or "": _number(keyword.value, text) for keyword in node.keywords}
        return PROMISES[name](*(_number(argument, text) for argument in node.args), **named)
    raise PromiseError(f"there is no promise {name[:40]!r}{_meant(name)}: {_HOW}")


def _meant(name: str) -> str:
    """The name that is nearest to a misspelt one, whatever its case."""
    by_case = {known.casefold(): known for known in _NAMES}
    near = get_close_matches(name.casefold(), by_case, n=1)
    return f", perhaps {by_case[near[0]]}" if near else ""


def _number(node: ast.expr, text: str) -> str:
    """The digits as typed, so that 0.1 is 1/10."""
    if isinstance(node, ast.Name) and node.id == "inf":
        return "inf"
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return str(ast.get_source_segment(text, node))
    raise PromiseError(f"a promise's parameters are numbers of 0 or more, or inf: {_HOW}")
