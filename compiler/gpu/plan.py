"""Launch plans: the steps of calls with arguments of the same shapes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.interpreter import PythonValues

from ..interpreters.arrays import Array
from ..interpreters.signature import Function
from .program import DeviceProgram
from .recorder import Recorder, run_host
from .shadows import StepPlace
from .steps import Executor, HostCall, KernelLaunch, Step, StepBuffer, StepMemory, arena_places

MAX_GRAPHS = 8
"""The maximum number of graphs of a plan; each is for one set of addresses."""


@dataclass(frozen=True)
class LaunchPlan:
    """The steps of a call, which refer to allocations by number. The first allocations are the
    buffers among the arguments of the function."""

    steps: Sequence[Step]
    sizes: Sequence[int]
    """The bytes of each allocation."""
    constants: Mapping[str, int]
    """The allocation of each constant, by symbol."""
    places: Mapping[int, int]
    """The offset in the arena of each allocation of the plan."""
    arena: int
    """The bytes of the arena, the memory of all allocations whose lifetimes end with the call."""
    results: Sequence[StepBuffer]
    """The buffers that the function returns; each has an allocation of its own."""

    @property
    def can_be_graph(self) -> bool:
        """Whether the steps can be captured as a CUDA graph: none runs on the host."""
        return bool(self.steps) and not any(isinstance(step, HostCall) for step in self.steps)

    def __str__(self) -> str:
        """Return the steps as text, one on each line."""
        return "\n".join(map(_text, self.steps))


def _text(step: Step) -> str:
    match step:
        case KernelLaunch(kernel, grid, arguments, where):
            given = ", ".join(map(_operand, arguments))
            return f"launch @{kernel}[{', '.join(map(str, grid))}]({given}){where}"
        case HostCall(function, arguments):
            return f"call @{function}({', '.join(map(_operand, arguments))}) on the host"
        case _:
            return f"{type(step).__name__.lower()} {', '.join(map(_operand, step))}"


def _operand(value: object) -> str:
    match value:
        case StepBuffer(place=place):
            return _operand(place)
        case StepPlace(allocation, offset):
            return f"%{allocation}+{offset}"
        case bytes():
            return value.hex()
        case _:
            return str(getattr(value, "value", value))


def make_plan(program: DeviceProgram, entry: Function, arguments: Arguments) -> LaunchPlan:
    """Run the host function `entry` with a recorder, and return the plan of its launches.

    `arguments` returns the arguments of `entry` for a recorder. Errors: NeedsValues if the function
    reads results of kernels.
    """
    recorder = Recorder(program)
    values = arguments(recorder)
    returned = run_host(program, entry, recorder, values)
    results = own_results(recorder, returned)
    kept = {buffer.place.allocation for buffer in results}
    events = [event for event in recorder.events if event[0] not in kept]
    places, arena = arena_places(events, recorder.sizes)
    return LaunchPlan(recorder.steps, recorder.sizes, recorder.constants, places, arena, results)


Arguments: TypeAlias = Callable[[Recorder], PythonValues]


def own_results(recorder: Recorder, returned: Sequence[Array]) -> list[StepBuffer]:
    """Return the buffers that a function returns, and record copies of those that share their
    allocation with an argument or another result."""
    results: list[StepBuffer] = []
    made = {number for number, is_new in recorder.events if is_new}
    for shadow in returned:
        if not shadow.flags.c_contiguous or recorder.buffer(shadow).place.allocation not in made:
            target = recorder.allocate(shadow.shape, shadow.dtype)
            recorder.copy(target, shadow)
            shadow = target
        made.discard((buffer := recorder.buffer(shadow)).place.allocation)
        results.append(buffer)
    return results


class LoadedPlan:
    """A plan whose arena is allocated on a device. The second run at the same addresses captures a
    graph, which later runs launch."""

    def __init__(
        self,
        plan: LaunchPlan,
        executor: Executor,
        allocate: Callable[[int], StepMemory],
        constant: Callable[[str], StepMemory],
    ) -> None:
        self.plan, self._executor = plan, executor
        self._arena = allocate(plan.arena) if plan.arena else None
        self._addresses = [0] * len(plan.sizes)
        self._constants = {number: constant(name) for name, number in plan.constants.items()}
        for number, memory in self._constants.items():
            self._addresses[number] = memory.address
        if self._arena is not None:
            for number, offset in plan.places.items():
                self._addresses[number] = self._arena.address + offset
        self._graphs: OrderedDict[tuple[int, ...], object] = OrderedDict()
        self._seen: tuple[int, ...] | None = None

    def run(self, arguments: Sequence[int], results: Sequence[int]) -> None:
        """Start the steps on the device, with these addresses of the arguments and results."""
        key = (*arguments, *results)
        if (graph := self._graphs.get(key)) is None and self._is_captured(key):
            addresses = self._at(arguments, results)
            graph = self._executor.device.capture(lambda: self._perform(addresses))
            self._keep(key, graph)
        if graph is None or self._executor.times is not None:
            self._perform(self._at(arguments, results))
        else:
            self._graphs.move_to_end(key)
            self._executor.device.replay(graph)

    def _is_captured(self, key: tuple[int, ...]) -> bool:
        is_again, self._seen = self._seen == key, key
        watched = self._executor.device.waits or self._executor.times is not None
        return is_again and self.plan.can_be_graph and not watched

    def _keep(self, key: tuple[int, ...], graph: object) -> None:
        self._graphs[key] = graph
        if len(self._graphs) > MAX_GRAPHS:
            self._executor.device.drop(self._graphs.popitem(last=False)[1])

    def _perform(self, addresses: Sequence[int]) -> None:
        for step in self.plan.steps:
            self._executor.perform(step, addresses)

    def _at(self, arguments: Sequence[int], results: Sequence[int]) -> list[int]:
        addresses = [*arguments, *self._addresses[len(arguments) :]]
        for buffer, address in zip(self.plan.results, results, strict=True):
            addresses[buffer.place.allocation] = address
        return addresses

    def __del__(self) -> None:
        for graph in self._graphs.values():
            self._executor.device.drop(graph)
