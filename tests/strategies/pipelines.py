"""Random pipelines of the registered passes, with options drawn from their declared types."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Literal, Union, get_args, get_origin

from hypothesis import strategies as st

from passline.passes import LOWER_TO_MLIR, PASSES, REPLACEMENTS, UNIVERSE
from passline.passmanager.options import PassOption, check_range, pass_options, pass_text

__all__ = [
    "EXCLUDED",
    "FACTORIES",
    "buffer_pipelines",
    "lowerings",
    "mixed_pipelines",
    "passes",
    "tensor_pipelines",
    "tile_lowerings",
]

EXCLUDED = {
    "bind-params": "changes the types of the function, by a file that fits one function alone",
    "bind-shapes": "changes the types of the function, by options that fit one function alone",
    "lift-transform-params": "changes the parameters of functions that have an attribute",
    "gradient": "needs a function @main with a result that is a floating-point scalar",
    "print-ir": "prints",
    "print-op-graph": "prints",
    "view-op-graph": "prints",
    "snapshot-op-locations": "writes a file, and changes locations alone",
    "symbol-privatize": "hides the function that is run",
    "composite-fixed-point-pass": "does nothing without an option that is a pipeline",
    "run-codegen": "needs functions for a back end, which fuse-ops-by-pattern would make",
    "print-op-stats": "prints",
    "mlir-opt": "runs mlir-opt's passes, not ours",
    "fuse-ops-by-pattern": "applies the patterns of a registry, which is empty without a backend",
    "to-mixed-precision": "rounds to a narrower type, so that results differ too much",
    "lower-arith": "the dialect llvm has no semantics here; its machine code is compared",
    "lower-func": "as lower-arith",
    "lower-math": "as lower-arith",
    "lower-memref": "as lower-arith",
    "lower-parallel": "calls the OpenMP runtime; the machine code of several threads is compared",
    "lower-scf": "its blocks are not the form that other passes on buffers read",
    "lower-vector": "as lower-arith",
    "lower-to-llvm": "a pipeline whose passes are excluded",
    "lower-to-mlir": "a pipeline whose passes are drawn one by one",
    "lower-to-tir": "a pipeline whose passes are drawn one by one",
}
"""The registered passes that are not drawn, with the reason."""

LOWERING = ("legalize-ops", "plan-memory", "lower-tir")
"""The passes from one level to the next, in their order."""

TARGETS = ("", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64")

VALUES: Mapping[tuple[str, str], Sequence[object]] = {
    ("alter-op-layout", "target"): TARGETS,
    ("alter-op-layout", "hooks"): ((),),
    ("canonicalize", "max_num_rewrites"): (),  # a second run goes on where the first ended
    ("check-conditions", "conditions"): (
        ("static-shapes",),
        ("no-op-of(relax.add)", "a-normal-form"),
    ),
    ("convert-layout", "desired"): (
        ("relax.nn.conv2d:NHWC",),
        ("relax.nn.conv2d:NHWC:HWIO",),
        ("relax.nn.max_pool2d:NHWC", "relax.nn.conv2d:NHWC"),
    ),
    ("convert-layout", "skip_layers"): ((), (0,)),
    ("dead-code-elimination", "entry_functions"): ((), ("main",)),
    ("eliminate-common-subexpr", "skip"): ((), ("relax.add",)),
    ("fake-quantization-to-integer", "hard_fail"): (),  # an error is no result
    ("fold-constant", "max_steps"): (0, 100, 1 << 12),
    ("inline", "default_pipeline"): ("", "canonicalize"),
    ("inline", "op_pipelines"): ((), ("func.func(cse)",)),
    ("legalize-ops", "customize_legalize_map"): ((),),
    ("legalize-ops", "database"): ("",),  # no file is known here
    ("legalize-ops", "skip_ops"): ((),),  # later passes need kernels
    ("legalize-ops", "target"): TARGETS,
    ("legalize-ops", "winograd"): ("none",),  # the others are approximations
    ("remove-unused-functions", "entry_functions"): (("main",),),
    ("tir-bind-target", "cores"): (0, 3),
    ("tir-bind-target", "target"): TARGETS[1:],
    ("tir-inject-double-buffer", "split_loop"): (0, 1, 2, 4, 8),
    ("tir-narrow-data-type", "target_bits"): (8, 16, 32),
}
"""The values of options whose type is not all that is known of them."""

INTEGERS = (0, 1, 2, 3, 4, 8, 16, 64, 1000)


FACTORIES = {**UNIVERSE.all_passes, **REPLACEMENTS}
"""The passes by name, as passline-opt runs them."""


def _values(name: str, option: PassOption) -> Sequence[object]:
    """Return the values to draw an option from, the default first."""
    found = VALUES.get((name, option.field))
    drawn = of_type(option.type) if found is None else found
    return [option.default, *(value for value in drawn if in_range(option, value))]


def in_range(option: PassOption, value: object) -> bool:
    """Return whether a value is not less than the minimum of an option."""
    try:
        check_range(option, value)
    except ValueError:
        return False
    return True


def of_type(type_: object) -> Sequence[object]:
    """Return values of the declared type of an option."""
    if type_ is bool:
        return (False, True)
    if type_ is int:
        return INTEGERS
    if type_ is type(None):
        return (None,)
    if get_origin(type_) is Literal:
        return get_args(type_)
    if get_origin(type_) in (Union, types.UnionType):
        return [value for member in get_args(type_) for value in of_type(member)]
    raise TypeError(f"no values for options of type {type_}: add some to VALUES")


def _of_dialect(*packages: str) -> list[str]:
    """Return the passes whose modules are in these packages of `passline.passes`."""
    drawn = (name for name, place in PASSES.items() if place.partition(".")[0] in packages)
    return [name for name in drawn if name not in EXCLUDED and name not in LOWERING]


GENERIC = [*_of_dialect("generic"), *(name for name in REPLACEMENTS if name not in EXCLUDED)]
ON_TENSORS = [*_of_dialect("relax"), *GENERIC, "optimize"]
ON_BUFFERS = [*_of_dialect("tir"), *GENERIC]


def passes(name: str) -> st.SearchStrategy[str]:
    """Strategy for the text of a pass with options; each is at its default most of the time."""
    cls = FACTORIES[name]()
    options = {option.field: st.sampled_from(_values(name, option)) for option in pass_options(cls)}

    def text(changed: set[str], values: Mapping[str, object]) -> str:
        return pass_text(cls(**{field: values[field] for field in changed}))

    return st.builds(
        text,
        st.sets(st.sampled_from([*options]), max_size=2) if options else st.just(set[str]()),
        st.fixed_dictionaries(options),
    )


_DRAWN = {name: passes(name) for name in (*ON_TENSORS, *ON_BUFFERS, *LOWERING)}


def _lists(names: Sequence[str], most: int, least: int = 0) -> st.SearchStrategy[list[str]]:
    drawn = st.sampled_from(names).flatmap(_DRAWN.__getitem__)
    return st.lists(drawn, min_size=least, max_size=most)


@st.composite
def tensor_pipelines(draw: st.DrawFn, most: int = 6) -> list[str]:
    """Strategy for pipelines on tensors, with or without the way down to buffers and loops."""
    pipeline = draw(_lists(ON_TENSORS, most, least=1))
    for name, names in (
        ("legalize-ops", GENERIC),
        ("plan-memory", ON_BUFFERS),
        ("lower-tir", GENERIC),
    ):
        if not draw(st.booleans()):
            break
        if name == "legalize-ops" and draw(st.booleans()):
            pipeline.append("to-a-normal-form")  # which it requires of a module with graphs
        pipeline += [draw(_DRAWN[name]), *draw(_lists(names, most))]
    return pipeline


@st.composite
def buffer_pipelines(draw: st.DrawFn, most: int = 6) -> list[str]:
    """Strategy for pipelines on buffers and loops, with or without the way down to MLIR."""
    pipeline = draw(_lists(ON_BUFFERS, most, least=1))
    if draw(st.booleans()):
        pipeline += [draw(_DRAWN["lower-tir"]), *draw(_lists(GENERIC, most))]
    return pipeline


ANY = [*ON_TENSORS, *ON_BUFFERS, *LOWERING * 8]
"""Every pass that is drawn; those that change the level more often."""


def mixed_pipelines(most: int = 12) -> st.SearchStrategy[list[str]]:
    """Strategy for pipelines of all passes in any order: their conditions say which of them run."""
    return _lists(ANY, most, least=2)


@st.composite
def lowerings(draw: st.DrawFn) -> list[str]:
    """Strategy for variations of the default way to machine code: other options, passes of no named
    pipeline, and an end at any pass, from where the compiler goes on."""
    relax = draw(st.sampled_from([["optimize"]] * 4 + [[], ["fuse-ops{fuse-opt-level=0}"]]))
    tir = [*LOWER_TO_MLIR]
    tir[0] = draw(st.sampled_from([tir[0], tir[0], "tir-loop-partition", "tir-simplify"]))
    for name, places in (
        ("tir-inject-double-buffer", [3]),
        ("tir-flatten-buffer", [0, 1, 3, 6]),
        ("tir-hoist-if-then-else", [0, 1, 2]),
        ("tir-simplify", [0]),
    ):
        if draw(st.integers(0, 2)) == 2:
            tir.insert(draw(st.sampled_from(places)), name)
    target = draw(st.sampled_from(TARGETS[1:]))
    pipeline = [*relax, f"legalize-ops{{target={target}}}", "plan-memory", *tir]
    end = draw(st.integers(len(relax) + 1, len(pipeline))) if draw(st.booleans()) else None
    return pipeline[:end]


@st.composite
def tile_lowerings(draw: st.DrawFn, *, buffers: bool, most: int = 3) -> list[str]:
    """Strategy for ways to tile programs, from tensors or from `buffers`: any passes at each level,
    and an end at any of them."""
    steps = [
        ("legalize-ops{target=sm_90}", ON_TENSORS),
        ("plan-memory", GENERIC),
        ("tir-lower-to-cuda-tile", ON_BUFFERS),
    ]
    pipeline = ["optimize"] if not buffers and draw(st.booleans()) else []
    for name, names in steps[2 * buffers :]:
        pipeline += [*draw(_lists(names, most)), name]
    pipeline += draw(_lists(GENERIC, most))
    return pipeline[: draw(st.integers(1, len(pipeline)))] if draw(st.booleans()) else pipeline
