"""Checks and times on a GPU, beside torch, `torch.compile` and JAX.

    make test-gpu         # python benchmarks/gpu.py check --json build/test-gpu.json
    make bench-gpu        # python benchmarks/gpu.py time --json build/bench-gpu.json
    python benchmarks/gpu.py check --engine cuda-interpreter --tiny      # without a GPU

Nothing is installed: a peer that cannot be imported is left out. `check` compares results with
those of numpy, or of torch where numpy would take too long. `time` measures a call whose arguments
and results are in device memory: the median of several runs, in seconds. A rate is in TFLOP/s, or
in TB/s for operations that memory limits; the row `copy` has the TB/s of a copy on the device.
Times of `cuda-interpreter` are those of a simulation, and say nothing about a GPU.

The script ends after `--seconds`: what is running then is given up, and the names of the cases that
were not run are in `left_out`. The file of `--json` is complete after each measurement, also when
the script is interrupted.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from gpu_networks import Case, JaxOperations, TorchOperations, all_cases

import passline
from passline.compiler.execution import device_of
from passline.compiler.gpu.device import Device
from passline.compiler.gpu.device_arrays import DeviceArray
from passline.passmanager.errors import PasslineError

SAMPLES, ROUNDS = 7, 5
REFERENCE = 3e9
"""The most operations, or bytes, for which numpy computes the reference."""
TOLERANCE = 2e-2
"""The maximum difference from the reference, in standard deviations of the reference."""
COPIED = 1 << 28
"""The bytes of the copy that bandwidths are compared with."""

Array = np.ndarray[Any, Any]


class TimeIsOverError(BaseException):
    """Raised where the script is when its time is over. No handler of errors catches it."""


@dataclass
class Row:
    """The measurements of a case."""

    name: str
    compile_seconds: float | None = None
    difference: float | None = None
    """The difference from the reference, in standard deviations of the reference."""
    reference: str = ""
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    """The seconds of a call, by `passline` and by each peer."""
    rate: float | None = None
    """The TFLOP/s or TB/s of `passline`."""
    error: str = ""
    failed_peers: dict[str, str] = field(default_factory=dict[str, str])
    """Why peers could not be measured."""

    def __str__(self) -> str:
        if self.error:
            return f"{self.name}: error: {self.error}"
        if self.seconds:
            times = ", ".join(f"{name} {1e3 * s:.3f} ms" for name, s in self.seconds.items())
            return f"{self.name}: {times}, {self.rate or 0:.3g} T/s"
        if self.difference is None:
            return f"{self.name}: not compared"
        return f"{self.name}: difference {self.difference:.2g} from {self.reference}"


@dataclass
class Measurements:
    """The rows, and the file that they are written to."""

    device: Device
    engine: Any
    file: Path | None
    rows: list[Row] = field(default_factory=list[Row])
    left_out: list[str] = field(default_factory=list[str])

    def write(self) -> None:
        """Write all rows to the file, which is replaced at once."""
        if self.file is None:
            return
        names = {"device": self.device.name, "target": self.device.target, "engine": self.engine}
        facts = {**names, "rows": [*map(asdict, self.rows)], "left_out": self.left_out}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        (new := self.file.with_suffix(".new")).write_text(json.dumps(facts, indent=1) + "\n")
        new.replace(self.file)

    def measure(self, case: Case, kind: str) -> None:
        """Compile and run a case, and add its row; what fails is in the row."""
        self.rows.append(row := Row(case.name))
        try:
            self._measure(case, kind, row)
        except Exception as error:  # the other cases go on
            row.error = first_line(error)
        finally:
            self.write()

    def _measure(self, case: Case, kind: str, row: Row) -> None:
        text, arguments, flops = case.module()
        start = perf_counter()
        compiled = passline.compile(text, engine=self.engine, cache=False)
        row.compile_seconds = perf_counter() - start
        given = [on_device(self.device, array) for array in arguments]
        (result, *_) = compiled(*given)
        if kind == "check":
            compare(row, case, (text, arguments, max(flops, case.bytes)), result.numpy())
            return
        row.seconds["passline"] = time(self.device, lambda: compiled(*given))
        row.rate = (case.bytes or flops) / row.seconds["passline"] / 1e12
        self.write()
        for name, peer in PEERS.items():
            try:
                if (seconds := peer(case, arguments)) is not None:
                    row.seconds[name] = seconds
            except Exception as error:  # of a peer
                row.failed_peers[name] = first_line(error)

    def copy(self, size: int) -> None:
        """Add the row of a copy of `size` bytes on the device."""
        target, source = (self.device.allocate(size) for _ in range(2))
        seconds = time(self.device, lambda: self.device.copy(target, source, size))
        self.device.free(target)
        self.device.free(source)
        row = Row("copy", seconds={"passline": seconds}, rate=2 * size / seconds / 1e12)
        self.rows.append(row)


def first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def on_device(device: Device, array: Array) -> DeviceArray:
    address = device.allocate(array.nbytes)
    device.upload(address, array)
    return DeviceArray(device, address, array.shape, array.dtype, Allocation(device, address))


@dataclass
class Allocation:
    """Device memory that is freed with this object."""

    device: Device
    address: int

    def __del__(self) -> None:
        self.device.free(self.address)


def compare(row: Row, case: Case, module: tuple[str, list[Array], float], result: Array) -> None:
    """Set the difference of `result` from a reference; PasslineError if it is too large."""
    text, arguments, work = module
    if work <= REFERENCE:
        row.reference = "numpy"
        (expected, *_) = passline.run(text, *arguments)
    elif find_spec("torch") is not None:
        row.reference = "torch"
        expected = case.network(TorchOperations(torch_arguments(arguments))).cpu().numpy()
    else:
        return
    wide = expected.astype(np.float64)
    row.difference = float(np.abs(result - wide).max() / (wide.std() or 1))
    if not row.difference <= TOLERANCE:
        raise PasslineError(f"the difference is {row.difference:.2g}: expected {TOLERANCE}")


class Clock(Protocol):
    """The events of a device."""

    def event(self) -> Any: ...
    def seconds(self, first: Any, last: Any) -> float: ...


def time(device: Clock, call: Callable[[], object]) -> float:
    """Return the median of the seconds of a call, between events of the device."""
    for _ in range(3):
        call()
    samples: list[float] = []
    for _ in range(SAMPLES):
        first = device.event()
        for _ in range(ROUNDS):
            call()
        samples.append(device.seconds(first, device.event()) / ROUNDS)
    return median(samples)


# Peers: each returns the seconds of a call, or None if it is not there


def torch_arguments(arguments: Sequence[Array]) -> list[Any]:
    """Return tensors in device memory; images have their channels last, as torch prefers."""
    torch: Any = import_module("torch")
    given = [torch.from_numpy(array).cuda() for array in arguments]
    return [a.to(memory_format=torch.channels_last) if a.ndim == 4 else a for a in given]


def torch_seconds(case: Case, arguments: Sequence[Array], mode: str = "") -> float | None:
    """Measure torch, or with `mode` the function that `torch.compile` makes."""
    if find_spec("torch") is None:
        return None
    torch: Any = import_module("torch")
    if not torch.cuda.is_available():
        return None

    def network(*given: Any) -> Any:
        return case.network(TorchOperations(given))

    function: Any = torch.compile(network, mode=mode) if mode else network
    given = torch_arguments(arguments)
    with torch.inference_mode():
        return time(TorchClock(), lambda: function(*given))


class TorchClock:
    """The events of torch."""

    def event(self) -> Any:
        event = import_module("torch").cuda.Event(enable_timing=True)
        event.record()
        return event

    def seconds(self, first: Any, last: Any) -> float:
        last.synchronize()
        return first.elapsed_time(last) / 1e3


def jax_seconds(case: Case, arguments: Sequence[Array]) -> float | None:
    """Measure a jitted function of JAX, on a GPU."""
    if find_spec("jax") is None:
        return None
    jax: Any = import_module("jax")
    if jax.default_backend() != "gpu":
        return None

    def network(*given: Any) -> Any:
        return case.network(JaxOperations(given))

    function = jax.jit(network)
    given = [jax.device_put(array) for array in arguments]
    for _ in range(3):
        function(*given).block_until_ready()
    samples: list[float] = []
    for _ in range(SAMPLES):
        start = perf_counter()
        results = [function(*given) for _ in range(ROUNDS)]
        results[-1].block_until_ready()
        samples.append((perf_counter() - start) / ROUNDS)
    return median(samples)


PEERS: dict[str, Callable[[Case, Sequence[Array]], float | None]] = {
    "torch": torch_seconds,
    "torch.compile": lambda case, given: torch_seconds(case, given, "max-autotune"),
    "jax": jax_seconds,
}
"""The peers; the kernels that `torch.compile` tunes are Triton's."""


# The script


@contextmanager
def limited(seconds: float) -> Generator[None]:
    """Raise TimeIsOverError in this block after `seconds`, and at the signal to end."""

    def stop(number: int, _: object) -> None:
        raise TimeIsOverError("the time is over" if number == signal.SIGALRM else "ended")

    before = {number: signal.signal(number, stop) for number in (signal.SIGALRM, signal.SIGTERM)}
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kind", choices=("check", "time"))
    parser.add_argument("--engine", choices=("cuda", "cuda-interpreter"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small sizes")
    help = "the time after which the script ends, by default 220"
    parser.add_argument("--seconds", type=float, default=220, help=help)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to this file")
    parser.add_argument("filter", nargs="*", help="words; run the cases whose names have one")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    args = parser().parse_intermixed_args(arguments)
    try:
        device = device_of(args.engine, None)
    except PasslineError as error:
        print(f"gpu.py: error: {error}", file=sys.stderr)
        return 1
    print(f"{args.kind} on {device.name}, {device.target}")
    found = Measurements(device, args.engine, args.json)
    cases = [
        case
        for case in all_cases(args.tiny)
        if not args.filter or any(word in case.name for word in args.filter)
    ]
    found.left_out += [case.name for case in cases]
    try:
        with limited(args.seconds):
            if args.kind == "time":
                found.copy(COPIED >> 12 if args.tiny else COPIED)
                print(found.rows[-1], flush=True)
            for case in cases:
                found.measure(case, args.kind)
                found.left_out.remove(case.name)
                print(found.rows[-1], flush=True)
    except TimeIsOverError:
        pass
    except KeyboardInterrupt:
        return 130
    finally:
        found.write()
    for name in found.left_out:
        print(f"{name}: left out, the time is over")
    return int(any(row.error for row in found.rows))


if __name__ == "__main__":
    sys.exit(main())
