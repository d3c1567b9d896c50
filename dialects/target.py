"""Targets: processors and types of devices."""

from __future__ import annotations

import os
from dataclasses import MISSING, asdict, dataclass, fields, replace
from enum import Enum
from functools import cache, cached_property
from pathlib import Path
from types import TracebackType
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException

from ..passmanager.names import did_you_mean
from ..passmanager.scopes import Scope

__all__ = [
    "DEFAULT",
    "NAMED",
    "ByteDotProduct",
    "DeviceType",
    "Target",
    "entered_target",
    "has_target",
    "host",
    "is_target",
    "known_target",
    "set_target",
    "target_of",
]


# Targets: the processors that kernels are made for.


ByteDotProduct: TypeAlias = Literal["vpdpbusd", "vpmaddubsw", "vpmaddwd", "usdot", "sdot"]
"""An instruction that adds products of bytes, or of i16."""


@dataclass(frozen=True, init=False)
class Target:
    """A processor: what the schedules of kernels and the generation of code depend on.

    Of an NVIDIA GPU, `sm_90`, a core is a multiprocessor, and its first cache the memory that the
    tiles of a block may take.

    Its text is the name of a processor, or `host` for this machine, followed by the fields that
    differ from it: `x86-64-v4{cpu="znver4" cores=8}`, or `Target("x86-64-v4", cores=8)`. While it
    is entered (`with Target("x86-64-v4"):`), it is the target of the modules that carry none; an
    inner one takes precedence.

    Errors: ValueError for an unknown name or field, a value of another type, or a number out of
    range. Source: TVM's `tvm.target.Target`.
    """

    triple: str
    cpu: str
    """The processor, as LLVM calls it."""
    features: str
    """Its features, as LLVM calls them: `+avx2,+fma`. Of a GPU, `+tf32` lets products of f32 round
    their operands to tf32."""
    vector_bits: int
    """The width of a vector register."""
    vector_registers: int
    cores: int = 1
    l1_cache: int = 32 << 10
    """The bytes of the first data cache of a core."""
    l2_cache: int = 512 << 10
    """The bytes of the second cache of a core."""
    l3_cache: int = 8 << 20
    """The bytes of the cache that the cores share; 0 if there is none."""

    def __init__(self, text: str | None = None, /, **given: str | int) -> None:
        values = {f.name: f.default for f in fields(Target) if f.default is not MISSING}
        if text is not None:
            values |= _values_of(text)
        values |= {name: _checked(name, value) for name, value in given.items()}
        for field in fields(Target):
            if field.name not in values:
                raise TypeError(
                    f"Target() needs the name of a processor, or the field {field.name}"
                )
            object.__setattr__(self, field.name, values[field.name])
        for name, minimum in MINIMA.items():
            if (value := getattr(self, name)) < minimum:
                text = f"{name.replace('_', '-')} is {value}: expected at least {minimum}"
                raise ValueError(text)
        if self.vector_bits & (self.vector_bits - 1):
            raise ValueError(f"vector-bits is {self.vector_bits}: expected a power of two")

    # The entered target

    @staticmethod
    def current() -> Target | None:
        """Return the target entered last in this thread or task; None if there is none."""
        return _entered.current()

    def __enter__(self) -> Target:
        _entered.enter(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _entered.leave(self)

    # What it says

    def __str__(self) -> str:
        own = asdict(self)
        texts: list[tuple[int, str]] = []
        for name, target in NAMED.items():
            other = asdict(target)
            differing = [
                f"{key.replace('_', '-')}="
                + (f'"{value}"' if isinstance(value, str) else f"{value}")
                for key, value in own.items()
                if value != other[key]
            ]
            texts.append(
                (len(differing), f"{name}{{{' '.join(differing)}}}" if differing else name)
            )
        return min(texts)[1]

    def __repr__(self) -> str:
        return f"Target({str(self)!r})"

    @property
    def is_cuda(self) -> bool:
        """Whether it is an NVIDIA GPU: kernels are tile programs."""
        return self.triple == CUDA

    def has(self, feature: str) -> bool:
        """Return whether the processor has a feature, as LLVM calls it: `fma`."""
        return feature in self.wants

    @cached_property
    def wants(self) -> set[str]:
        """The features that code for the processor may use."""
        return {name[1:] for name in self.features.split(",") if name.startswith("+")}

    def byte_dot_product(self, lanes: int, *, exact_pairs: bool) -> ByteDotProduct | None:
        """Return the instruction that adds products of unsigned and signed bytes, four for each of
        the `lanes` i32 of a vector; None if the processor has none.

        `vpmaddubsw` adds pairs of products in i16, with saturation: only if they fit, which is
        `exact_pairs`. `vpmaddwd` multiplies i16, to which bytes are extended, and adds pairs of
        products in i32. `sdot` multiplies signed bytes.
        """
        if lanes in (4, 8, 16):
            wide = lanes == 16
            if self.has("avx512vnni") and (wide or self.has("avx512vl")):
                return "vpdpbusd"
            if self.has("avxvnni") and not wide:
                return "vpdpbusd"
            if self.has({4: "ssse3", 8: "avx2", 16: "avx512bw"}[lanes]):
                return "vpmaddubsw" if exact_pairs else "vpmaddwd"
        if lanes == 4 and self.has("neon"):
            return "usdot" if self.has("i8mm") else "sdot" if self.has("dotprod") else None
        return None

    def lanes(self, bits: int) -> int:
        """Return how many elements of `bits` bits a vector register has; at least 2, as a vector of
        one element is none."""
        return max(2, self.vector_bits // max(8, bits))


MINIMA = {
    "vector_bits": 64,
    "vector_registers": 8,
    "cores": 1,
    "l1_cache": 1 << 10,
    "l2_cache": 1 << 10,
    "l3_cache": 0,
}
"""The minimum of each number in a target."""


_entered = Scope[Target]("Target")


def _values_of(text: str) -> dict[str, str | int]:
    """Return the fields of a text such as `x86-64-v3`, `host` or `x86-64-v3{cores=4}`."""
    try:
        spec = parse_spec(text)
    except ArgSpecParseError as error:
        raise ValueError(f"'{text}' is not a target: {error}") from None
    if spec.name == "host":
        base = host()
    elif (named := NAMED.get(spec.name)) is not None:
        base = named
    else:
        known = [*NAMED, "host"]
        hint = did_you_mean(spec.name, known) or f"; choose from {', '.join(known)}"
        if spec.name == "llvm":
            hint = "; TVM's target of this machine is 'host'"
        raise ValueError(f"there is no target '{spec.name}'{hint}")
    values: dict[str, str | int] = asdict(base)
    for key, given in spec.parameters.items():
        value = given[0] if len(given) == 1 else None
        values[key.replace("-", "_")] = _checked(key, value)
    return values


def _checked(key: str, value: object) -> str | int:
    """Return the value of a field of a target; ValueError for another field or type."""
    types = {field.name: int if field.type == "int" else str for field in fields(Target)}
    name = key.replace("-", "_")
    if name not in types:
        known = [field.replace("_", "-") for field in types]
        hint = did_you_mean(key, known) or f"; choose from {', '.join(known)}"
        raise ValueError(f"targets have no field '{key}'{hint}")
    if isinstance(value, int | str) and type(value) is types[name]:
        return value
    kind = "a whole number" if types[name] is int else "a string in quotes"
    raise ValueError(f"{key} of a target: expected {kind}")


_V2 = "+cx16,+sahf,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2"
_V3 = f"{_V2},+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
_V4 = f"{_V3},+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"
_X86 = "x86_64-unknown-linux-gnu"

CUDA = "nvptx64-nvidia-cuda"
"""The triple of NVIDIA's GPUs."""


def _gpu(cpu: str, cores: int, shared: int, l2_cache: int) -> Target:
    """Return an NVIDIA GPU with that many multiprocessors, KiB of shared memory that a block may
    have, and MiB of cache. Its loops have no vectors: registers are those of one thread."""
    return Target(
        triple=CUDA,
        cpu=cpu,
        features="",
        vector_bits=64,
        vector_registers=255,
        cores=cores,
        l1_cache=shared << 10,
        l2_cache=l2_cache << 20,
        l3_cache=0,
    )


NAMED = {
    "x86-64": Target(triple=_X86, cpu="x86-64", features="", vector_bits=128, vector_registers=16),
    "x86-64-v2": Target(
        triple=_X86, cpu="x86-64-v2", features=_V2, vector_bits=128, vector_registers=16
    ),
    "x86-64-v3": Target(
        triple=_X86, cpu="x86-64-v3", features=_V3, vector_bits=256, vector_registers=16
    ),
    "x86-64-v4": Target(
        triple=_X86,
        cpu="x86-64-v4",
        features=_V4,
        vector_bits=512,
        vector_registers=32,
        l2_cache=1 << 20,
    ),
    "aarch64": Target(
        triple="aarch64-unknown-linux-gnu",
        cpu="generic",
        features="+neon,+fma",
        vector_bits=128,
        vector_registers=32,
    ),
    "sm_80": _gpu("sm_80", cores=108, shared=163, l2_cache=40),
    "sm_86": _gpu("sm_86", cores=82, shared=99, l2_cache=6),
    "sm_89": _gpu("sm_89", cores=128, shared=99, l2_cache=72),
    "sm_90": _gpu("sm_90", cores=132, shared=227, l2_cache=50),
    "sm_100": _gpu("sm_100", cores=148, shared=227, l2_cache=126),
    "sm_120": _gpu("sm_120", cores=170, shared=99, l2_cache=96),
}
"""The targets with a name: the levels of the x86-64 psABI, 64-bit Arm with Neon, and NVIDIA's GPUs
by compute capability: A100, RTX 3090, RTX 4090, H100, B200 and RTX 5090."""

DEFAULT = NAMED["x86-64-v3"]
"""The target of modules that name none: it does not depend on the machine."""


TARGET = "tir.target"
"""The attribute of a module that names its target."""


def known_target(module: ModuleOp) -> Target | None:
    """Return the target that a module carries, or else the entered one; None if there is neither.

    Errors: DiagnosticException if its attribute is no target."""
    attribute = module.attributes.get(TARGET)
    if attribute is None:
        return Target.current()
    try:
        if not isinstance(attribute, StringAttr):
            raise ValueError(f"expected a string, got {attribute}")
        return Target(attribute.data)
    except ValueError as error:
        raise DiagnosticException(f"attribute '{TARGET}' of the module: {error}") from None


def target_of(module: ModuleOp) -> Target:
    """Return the target of a module as `known_target` does, or the default."""
    return known_target(module) or DEFAULT


def entered_target(module: ModuleOp) -> Target | None:
    """Return the entered target if `module` carries none, for which it holds; else None."""
    return None if has_target(module) else Target.current()


def has_target(module: ModuleOp) -> bool:
    """Return whether a module carries a target."""
    return TARGET in module.attributes


def set_target(module: ModuleOp, target: Target) -> None:
    """Let a module carry a target: its kernels are scheduled for it."""
    module.attributes[TARGET] = StringAttr(str(target))


def is_target(text: str) -> bool:
    """Return whether `text` begins with the name of a target."""
    name = text.partition("{")[0].strip()
    return name == "host" or name in NAMED


@cache
def host() -> Target:
    """Return the target of this machine, as LLVM and the operating system describe it; its
    named target is the highest whose features it has. Errors: ValueError without llvmlite."""
    try:
        import llvmlite.binding as llvm
    except ImportError:
        raise ValueError(
            "the target 'host' needs llvmlite: `pip install llvmlite`, or passline[native]"
        ) from None
    llvm.initialize_native_target()
    triple, found = llvm.get_default_triple(), llvm.get_host_cpu_features()
    features = found.flatten()
    present = set(features.split(","))
    arch = triple.partition("-")[0]
    family = [t for t in NAMED.values() if t.triple.partition("-")[0] == arch] or [NAMED["x86-64"]]
    fitting = [t for t in family if set(filter(None, t.features.split(","))) <= present]
    caches = _caches()
    return replace(
        (fitting or family)[-1],
        triple=triple,
        cpu=llvm.get_host_cpu_name(),
        features=features,
        cores=len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1,
        **{f"l{level}_cache": size for level, size in caches.items()},
    )


def _caches() -> dict[int, int]:
    """Return the bytes of the data caches by level, as far as Linux tells."""
    sizes: dict[int, int] = {}
    for index in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            kind, level, size = (
                (index / name).read_text().strip() for name in ("type", "level", "size")
            )
            if kind != "Instruction" and level in "123":
                sizes[int(level)] = int(size.removesuffix("K")) << 10
        except (OSError, ValueError):
            continue
    return {level: size for level, size in sizes.items() if size >= 1 << 10}


# The types of devices, as the config option `relax.fallback_device_type` names them.


class DeviceType(Enum):
    """A type of device, with its number in DLPack and TVM."""

    cpu = 1
    cuda = 2
    cuda_host = 3
    opencl = 4
    vulkan = 7
    metal = 8
    vpi = 9
    rocm = 10
    rocm_host = 11
    ext_dev = 12
    cuda_managed = 13
    oneapi = 14
    webgpu = 15
    hexagon = 16
    maia = 17
