"""The properties of passes on random modules: see `check_case`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from io import StringIO
from typing import TypeAlias

import numpy as np
from strategies.pipelines import FACTORIES
from support.laws import run
from support.loops import Arguments
from support.networks import Network
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from passline.interpreters.signature import Function
from passline.passmanager import PassContext, Sequential
from passline.passmanager.errors import InvalidIRError, PassContractError, PasslineError
from passline.passmanager.ir.snapshot import Snapshot
from passline.passmanager.ir.verifier import verify
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context
from passline.tools.native import compile_module
from passline.tools.roundtrip import verify_roundtrip

from .cases import Case

__all__ = ["Broken", "Outcome", "check_case"]

Computed: TypeAlias = dict[tuple[str, int], Sequence[object]]
"""The results of calls, by function and the number of the call."""

MAX_STEPS = 500
"""The most operations that one call may run before any pass; afterwards it is four times that."""

NOT_IDEMPOTENT = {"cse"}
"""Passes whose second run may change something: the result of `cse` is that of xDSL's."""

ROUNDS = {
    "alter-op-layout",
    "backward-fold-scale-axis",
    "canonicalize-ops",
    "convert-layout",
    "fold-scale-axis",
    "forward-fold-scale-axis",
    "legalize-ops",
    "optimize",
    "simplify-expr",
    "simplify-inference",
}


class Broken(AssertionError):
    """The failure of a property."""


@dataclass
class Outcome:
    """What was checked of a case: enough to see that the properties are not empty."""

    passes: list[str] = field(default_factory=list[str])
    """The passes that ran."""
    compared: int = 0
    """The number of calls whose results were compared."""
    refusal: str = ""
    """The message with which a pass, or the compiler, refused the module; it ends the case."""
    native: bool = False
    """Whether machine code was compared."""


def check_case(case: Case) -> Outcome:
    """Run the pipeline of a case; after each pass, check what it says of itself.

    The module is valid; a second run of the pass changes nothing; every function computes the same
    on all arguments, bit for bit up to the payload of NaN, or for a pass that rounds within the
    tolerances of the network. After one of the passes the printed module reads back. At the end,
    machine code computes the same. A pass may refuse a module with an error: that ends the case.
    Errors: Broken, VerifyException, and whatever a pass raises that is no PasslineError.
    """
    check = Check(case)
    with np.errstate(all="ignore"), redirect_stderr(StringIO()), PassContext(opt_level=9):
        for i, text in enumerate(case.pipeline):
            if not check.run_pass(text):
                return check.outcome
            if i == case.reads_back_after:
                verify_roundtrip(check.module, check.ctx)
        if case.native:
            check.run_native()
    return check.outcome


class Check:
    """The state of a check: the module so far, and what its functions compute."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.ctx: Context = make_ir_context()
        self.module = case.module.clone()
        verify(self.module)
        self.outcome = Outcome()
        self.expected = compute(self.module, case.calls)

    def run_pass(self, text: str) -> bool:
        """Run a pass and check its properties; False if it refuses the module."""
        pipeline = parse_pipeline(text, FACTORIES)
        try:
            pipeline.apply(self.ctx, self.module)
        except (InvalidIRError, PassContractError):
            raise
        except (PasslineError, PassFailedException) as error:
            self.outcome.refusal = f"{text}: {error}"
            return False
        self.outcome.passes.append(text)
        verify(self.module)
        self.check_results(pipeline, text)
        if name_of(text) in NOT_IDEMPOTENT:
            return True
        snapshot = Snapshot(self.module)
        pipeline.apply(self.ctx, self.module)
        if snapshot.update():
            raise Broken(f"a second run of {text} changes the result of the first")
        return True

    def check_results(self, pipeline: Sequential, text: str) -> None:
        """Compare the results after a pass with those before it."""
        if text.startswith("lower-tir"):
            return  # what it makes has no semantics on numpy; machine code is compared
        try:
            actual = compute(self.module, self.case.calls, self.expected)
        except Broken as error:
            raise Broken(f"after {text}: {error}") from error
        for call, results in self.expected.items():
            if call not in actual:
                continue  # the function is removed
            name, index = call
            where = f"@{name}, call {index}, after {text}"
            if not rounds(text):
                check_equal(results, actual[call], where)
            elif self.case.network is not None and index == 0:
                check_close(self.case.network, actual[call], where)
            else:
                continue
            self.outcome.compared += 1
        self.expected = actual

    def run_native(self) -> None:
        """Compile each function, and compare what its machine code computes."""
        names = {op.sym_name.data for op in self.module.ops if isinstance(op, Function)}
        for name, calls in self.case.calls.items():
            if name not in names:
                continue
            try:
                function = compile_module(self.module, name)
            except InvalidIRError:
                raise
            except PasslineError as error:
                self.outcome.refusal = f"machine code: {error}"
                return
            for index, arguments in enumerate(calls):
                if (results := self.expected.get((name, index))) is None:
                    continue
                where = f"@{name}, call {index}, as machine code"
                given = tuple(array.copy() for array in arguments)
                # A function on buffers without `tir.outputs` returns what it writes to them.
                actual = function(*given) or tuple(array for array in given if array.ndim)
                if self.case.network is None:
                    check_equal(results, actual, where)
                elif index == 0:
                    check_close(self.case.network, actual, where)
                self.outcome.native = True


def name_of(text: str) -> str:
    """Return the name of a pass with options."""
    return text.partition("{")[0]


def rounds(text: str) -> bool:
    """Return whether a pass may change the rounding of floats."""
    return name_of(text) in ROUNDS


class TooLong(Exception):
    """The end of a computation that takes too many steps."""


class Budget(Interpreter.Listener):
    """A listener that ends a computation after a number of operations."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooLong


def compute(
    module: ModuleOp, calls: Mapping[str, Sequence[Arguments]], before: Computed | None = None
) -> Computed:
    """Compute the calls on numpy, but those that are refused or long.

    Broken if a call is refused that is in `before`.
    """
    names = {op.sym_name.data for op in module.ops if isinstance(op, Function)}
    steps = MAX_STEPS if before is None else 4 * MAX_STEPS
    results: Computed = {}
    for name in (name for name in calls if name in names):
        for index, arguments in enumerate(calls[name]):
            try:
                results[name, index] = run(module, name, arguments, Budget(steps))
            except PasslineError as error:
                if isinstance(error.__cause__, TooLong):
                    continue
                if before is not None and (name, index) in before:
                    raise Broken(f"@{name}, call {index}: {error}") from error
    return results


def check_equal(expected: Sequence[object], actual: Sequence[object], where: str) -> None:
    """Raise Broken unless all results are equal, floats bit for bit; all NaN are equal."""
    if len(expected) != len(actual):
        raise Broken(f"{where}: {len(actual)} results, before {len(expected)}")
    for i, pair in enumerate(zip(expected, actual)):
        one, other = (np.asarray(value) for value in pair)
        if (one.shape, one.dtype) != (other.shape, other.dtype):
            raise Broken(
                f"{where}: result {i} is {other.dtype}{other.shape}, before {one.dtype}{one.shape}"
            )
        same = one == other
        if one.dtype.kind == "f":
            same = (same & (np.signbit(one) == np.signbit(other))) | (
                np.isnan(one) & np.isnan(other)
            )
        if not same.all():
            wrong = ~np.atleast_1d(same)
            raise Broken(
                f"{where}: result {i} has {np.atleast_1d(other)[wrong][:5]}, before "
                f"{np.atleast_1d(one)[wrong][:5]} ({wrong.sum()} of {wrong.size} differ)"
            )


def check_close(network: Network, actual: Sequence[object], where: str) -> None:
    """Raise Broken unless the results are those of the network, up to its tolerances."""
    for i, (expected, tolerance) in enumerate(
        zip(network.results, network.tolerances, strict=True)
    ):
        try:
            np.testing.assert_allclose(np.asarray(actual[i]), expected, 0, tolerance, strict=True)
        except AssertionError as error:
            raise Broken(f"{where}: result {i}: {error}") from error
