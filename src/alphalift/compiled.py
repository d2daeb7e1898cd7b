"""Compiled kernels: how they are compiled, on first use, and what they call back, a utility's curve."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numba import njit, types
from numba.core import event

VECTOR, MATRIX, INTEGERS = types.float64[::1], types.float64[:, ::1], types.int64[::1]

# A Python function behind a pointer (alphalift.convex.Callback): which one, w, its size, where the result goes.
CALLBACK = types.void(types.int64, types.voidptr, types.int64, types.voidptr)
# phi(v, order): the value (order 0) or the derivative (order 1); phi(0, 2) is where phi has a kink, 0 where it has none.
CURVE = types.float64(types.float64, types.int64)

# Nothing is compiled at import: the decorator waits for the first call, and numba keeps the result on disk.
kernel = njit(cache=True, nogil=True, error_model="numpy")
# For what only kernels call: compiled once by itself, without the code that would make it callable from Python or C.
_NO_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
subroutine = njit(nogil=True, error_model="numpy", **_NO_WRAPPERS)
# For a step in the inner loop of a kernel: a subroutine that LLVM inlines, since counting references to the arrays of named
# tuples at every call would take longer than the step itself.
inlined = njit(nogil=True, error_model="numpy", forceinline=True, **_NO_WRAPPERS)
# For the other steps: a part of its caller from the beginning, which takes half as long to compile. Fewer references are
# optimised away then: as steps of the inner loop these would take a third longer.
spliced = njit(nogil=True, error_model="numpy", inline="always")

_LOGGER = logging.getLogger("alphalift")


@subroutine
def full(size, value):  # type: ignore[no-untyped-def]
    """A new vector with this value everywhere: numba's empty, zeros, ones and full are compiled again for each of their callers."""
    vector = np.empty(size)
    for i in range(size):
        vector[i] = value
    return vector


@subroutine
def zeros(rows, columns):  # type: ignore[no-untyped-def]
    """A new matrix of zeros."""
    matrix = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            matrix[i, j] = 0.0
    return matrix


@subroutine
def copied(vector):  # type: ignore[no-untyped-def]
    """A new vector like this one."""
    new = np.empty(len(vector))
    for i in range(len(vector)):
        new[i] = vector[i]
    return new


@subroutine
def sum_of(vector):  # type: ignore[no-untyped-def]
    """The sum of the entries."""
    result = 0.0
    for i in range(len(vector)):
        result += vector[i]
    return result


@subroutine
def copy_row(source, i, target, j):  # type: ignore[no-untyped-def]
    """target[j] = source[i]; as a loop, because numba spends seconds on the error messages of an assignment of slices."""
    for k in range(source.shape[1]):
        target[j, k] = source[i, k]


def tuple_type(cls: type[tuple[Any, ...]], *fields: Any) -> Any:
    """The type of a NamedTuple in a kernel's signature, from the types of its fields."""
    return types.BaseTuple.from_types(fields, cls)  # type: ignore[no-untyped-call]


class _Compiling(event.Listener):
    """What happens while numba compiles: it is said at once, once in a process, and Ctrl-C ends it between two passes."""

    said, interrupted = False, False

    def on_start(self, event: Any) -> None:
        if self.interrupted:
            self.interrupted = False
            raise KeyboardInterrupt
        if not self.said:
            self.said = True
            # A warning, since these are shown, on standard error, where nobody has set up logging.
            _LOGGER.warning("Compiling the solver's kernels, once on this machine (about 25 s)")

    def on_end(self, event: Any) -> None:
        """Nothing: an error would hide the one that has ended the pass."""

    def interrupt(self, number: int, frame: object) -> None:
        self.interrupted = True


_COMPILING = _Compiling()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Keeps Ctrl-C until numba is between two passes: inside of LLVM's callbacks it would be printed and forgotten."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _COMPILING.interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if _COMPILING.interrupted:
        _COMPILING.interrupted = False
        raise KeyboardInterrupt


class Compiled(types.WrapperAddressProtocol):
    """Machine code with one signature, to be called from Python, or by kernels that take it as an argument.

    Numba's own way to call it takes 0.3 milliseconds, mostly for finding out again what types its arguments have and where the
    functions among them are: as long as ten nodes of a tree.
    """

    def __init__(self, dispatcher: Any) -> None:
        (self._result,) = dispatcher.overloads.values()
        self._enter, self._kinds = self._result.entry_point, [_kind_of(own) for own in self._result.signature.args]
        self._address = self._result.library.get_pointer_to_function(self._result.fndesc.llvm_cfunc_wrapper_name)

    def __call__(self, *arguments: Any) -> Any:
        if not _fit(arguments, self._kinds):
            raise TypeError(f"expected arguments of the types {self._result.signature.args}")
        return self._enter(*arguments)

    def __wrapper_address__(self) -> int:
        return int(self._address)

    def signature(self) -> Any:
        return self._result.signature


def _kind_of(expected: Any) -> Any:
    """What an argument is compared with: an array's dtype and dimensions, or a list of these for a tuple; others are converted."""
    if isinstance(expected, types.BaseTuple):
        return [_kind_of(own) for own in expected.types]  # type: ignore[attr-defined]
    if isinstance(expected, types.Array):
        return np.dtype(str(expected.dtype)).char, expected.ndim
    return None


def _fit(values: Any, kinds: list[Any]) -> bool:
    """Whether these are as many as expected, and arrays that lie in memory as kernels read them."""
    if len(values) != len(kinds):
        return False
    for value, kind in zip(values, kinds, strict=True):
        if type(kind) is list:
            if not _fit(value, kind):
                return False
        elif kind is not None and not (
            type(value) is np.ndarray and value.flags.c_contiguous and (value.dtype.char, value.ndim) == kind
        ):
            return False
    return True


@cache
def compile_once(function: Callable[..., Any], signature: Any) -> Compiled:
    """The function as machine code with this signature.

    With a signature, functions that it takes as arguments are plain pointers, so that one compilation serves
    every region and utility, and numba's cache on disk finds it again.
    """
    with _interruptible(), event.install_listener("numba:run_pass", _COMPILING):
        return Compiled(njit(signature, cache=True, nogil=True, error_model="numpy")(function))
