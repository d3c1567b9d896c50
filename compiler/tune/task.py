"""The kernels that can be tuned, and the measurement of a candidate as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, FunctionType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from ...dialects.relax.base import TensorOp
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.types import static_shape, tensor_type
from ...dialects.target import Target
from ...passes.relax.legalize_ops import constant_arguments, outline_operations
from ...passmanager.fast.clone import clone
from ...passmanager.ir.text.printer import module_text
from ...passmanager.ir.walk import walk
from ..kernels.builder import Winograd
from ..kernels.choices import Choice, Made, NoKernel
from ..kernels.gpu.tile_kernels import gpu_kernel_of
from ..kernels.kernel import kernel_key, kernel_of

# The measurement of a candidate as data: what is sent to a worker, and what it returns.


@dataclass(frozen=True)
class Task:
    """The measurement of a kernel with given choices, beside those of the lowest estimate."""

    key: str
    text: str
    """The module, as `TunableKernel.alone` returns it."""
    constants: tuple[int, ...]
    """The parameters of `@main` that are constants."""
    choices: tuple[Choice, ...]
    target: str
    winograd: Winograd
    seconds: float
    """The time of all runs together."""
    time_limit: float
    """The time after which the measurement is given up, with compilation and check, in seconds."""


@dataclass(frozen=True)
class Measurement:
    """The best seconds of a kernel with given and with estimated choices, or why there are none."""

    seconds: float = 0.0
    estimated_seconds: float = 0.0
    ratios: tuple[float, ...] = ()
    """The quotients of the best times in the first and in the second half of the runs."""
    error: str = ""

    @property
    def ratio(self) -> float:
        """The time of the choices, as a part of that of the estimated ones."""
        return self.seconds / self.estimated_seconds

    @property
    def steady_ratio(self) -> float:
        """The ratio, or that of the less favourable half."""
        return max(self.ratio, *self.ratios)


Measure: TypeAlias = Callable[[Task], Measurement]
"""A function that measures, in whatever process an executor calls it."""


# The kernels of a module that can be tuned, each with a module of its own that calls it.


@dataclass(frozen=True)
class TunableKernel:
    """A kernel that makes choices."""

    key: str
    func: FuncOp
    """The primitive function."""
    given: Mapping[int, Sequence[ConstantOp | FullOp]]
    """The constants that its callers pass, by the number of the parameter."""
    calls: int
    target: Target
    winograd: Winograd

    @property
    def operations(self) -> str:
        """The operations and the type of the last result, for people."""
        ops = [op for op in walk(self.func) if isinstance(op, TensorOp)]
        ops = [op for op in ops if not isinstance(op, ConstantOp | FullOp)]
        names = " ".join(op.name.partition(".")[2] for op in ops)
        return f"{names} {' '.join(map(str, self.func.function_type.outputs))}"

    def made(self, measured: Sequence[Choice] = ()) -> list[Made]:
        """Return the choices of the kernel, the first ones as `measured`."""
        if self.target.is_cuda:
            return gpu_kernel_of(self.func, self.target, measured=measured).choices.made
        return kernel_of(self.func, self.target, self.given, self.winograd, measured).choices.made

    @property
    def cycles(self) -> float:
        """The estimated cycles of all calls: those that depend on choices."""
        return self.calls * sum(made.estimate() for made in self.made())

    def alone(self) -> tuple[str, list[int]]:
        """Return the text of a module whose function `@main` calls the kernel, and the parameters
        of it that stand for constants.

        These are the constants of floats, whose values do not matter; others are in the text.
        """
        block, arguments, free = Block(), list[SSAValue](), list[int]()
        for number, type in enumerate(self.func.function_type.inputs):
            constants = self.given.get(number, ())
            if constants and not is_drawn(constants[0]):
                block.add_op(constant := constants[0].clone())
                arguments.append(constant.results[0])
                continue
            if constants:
                free.append(len(block.args))
            arguments.append(block.insert_arg(type, len(block.args)))
        func = clone(self.func)
        outputs = [*func.function_type.outputs]
        call = CallOp(func.sym_name.data, arguments, outputs)
        block.add_ops([call, ReturnOp(*call.results)])
        types = FunctionType.from_lists([argument.type for argument in block.args], outputs)
        module = ModuleOp([FuncOp("main", types, Region(block)), func])
        return module_text(module, Context()), free


def is_drawn(constant: ConstantOp | FullOp) -> bool:
    """Return whether random numbers can take the place of a constant."""
    return isinstance(constant, ConstantOp) and isinstance(
        tensor_type(constant.result).element_type, AnyFloat
    )


def tunable_kernels(
    module: ModuleOp, target: Target, winograd: Winograd
) -> tuple[list[TunableKernel], list[str]]:
    """Return the distinct kernels of an optimized module that make choices, those first that are
    estimated to take the most time, and the notes on kernels that cannot be tuned."""
    module = clone(module)
    outline_operations(module)
    constants = constant_arguments(module)
    calls = Counter(op.callee.root_reference.data for op in walk(module) if isinstance(op, CallOp))
    found: dict[str, TunableKernel] = {}
    notes: list[str] = []
    for func in [op for op in module.ops if isinstance(op, FuncOp)]:
        if "relax.primitive" not in func.attributes:
            continue
        name = func.sym_name.data
        given = constants[name]
        key = kernel_key(func, given, winograd)
        earlier = found.get(key)
        count = calls[name] + (0 if earlier is None else earlier.calls)
        kernel = TunableKernel(key, func, given, count, target, winograd)
        types = (*func.function_type.inputs, *func.function_type.outputs)
        if any(static_shape(type) is None for type in types):
            notes.append(f"@{name} has unknown sizes: choose them by --shape or --dim")
            continue
        try:
            if not kernel.made():
                continue
        except NoKernel:
            continue
        found[key] = kernel
    return sorted(found.values(), key=lambda kernel: -kernel.cycles), notes
