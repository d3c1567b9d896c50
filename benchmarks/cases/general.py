"""The inputs of the general passes: IR in which they find work in proportion to its size, and IR in
which they find none: flat, with one value that all operations use, and nested."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .workloads import scalar_ops

__all__ = ["DEPTH", "GENERAL", "GENERAL_INPUTS"]

DEPTH = 10_000
"""The regions of the nested input."""

HEAD = "func.func @main(%c : i1, %x : i32, %y : i32, %n : index) -> i32 {\n"
END = "func.return %x : i32\n}\n"
INDICES = "%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n"


def _function(group: str, count: int, head: str, tail: str) -> str:
    """Return a function with groups of lines; `#` in them is the number of the group."""
    size = group.count("\n") - group.count("}\n")
    lines = [group.replace("#", str(number)) for number in range(max(count // size, 1))]
    return "".join([HEAD, head, *lines, tail, END])


def _groups(group: str, head: str = "", tail: str = "") -> Callable[[int], str]:
    return lambda count: _function(group, count, head, tail)


def _functions(group: str, main: str = "") -> Callable[[int], str]:
    """Return what makes functions, and a function of groups of lines, `main`."""

    def text(count: int) -> str:
        size = (group + main).count("\n") - (group + main).count("}\n")
        numbers = range(max(count // size, 1))
        found = [group.replace("#", str(number)) for number in numbers]
        return "".join([*found, HEAD, *(main.replace("#", str(n)) for n in numbers), END])

    return text


def nested(count: int) -> str:
    """Return DEPTH loops in each other, with `count` operations in the innermost and between."""
    depth = min(DEPTH, count // 3)
    each = max(count // depth - 2, 1)
    lines = [HEAD, INDICES]
    for level in range(depth):
        lines.append(f"scf.for %i{level} = %zero to %n step %one {{\n")
        lines += [f'"test.op"(%i{level}) : (index) -> ()\n'] * each
    return "".join([*lines, *["}\n"] * depth, END])


GENERAL_INPUTS: Mapping[str, Callable[[int], str]] = {
    "scalar ops": scalar_ops,
    # One value that all operations use.
    "one operand": _groups('%v# = arith.addi %x, %y : i32\n"test.op"(%v#) : (i32) -> ()\n'),
    "one condition": _groups(
        'scf.if %c {\n"test.op"(%c) : (i1) -> ()\nscf.yield\n} else {\n'
        '"test.op"(%c) : (i1) -> ()\nscf.yield\n}\n'
    ),
    "one condition of blocks": _groups(
        "cf.cond_br %c, ^a#, ^b#\n^a#:\n"
        '"test.op"(%c) : (i1) -> ()\ncf.br ^c#\n^b#:\n"test.op"(%c, %x) : (i1, i32) -> ()\n'
        "cf.br ^c#\n^c#:\n"
    ),
    "one target of blocks": _groups(
        "cf.cond_br %c, ^a#, ^b#\n^a#:\n"
        '"test.op"() : () -> ()\ncf.br ^end\n^b#:\n"test.op"(%x) : (i32) -> ()\n',
        tail="cf.br ^end\n^end:\n",
    ),
    "nested loops": nested,
    # Work for a pass.
    "identities": _groups(
        "%a# = arith.addi %x, %z : i32\n%b# = arith.muli %a#, %w : i32\n"
        '"test.op"(%b#) : (i32) -> ()\n',
        "%z = arith.constant 0 : i32\n%w = arith.constant 1 : i32\n",
    ),
    "equal ops": _groups(
        "%a# = arith.addi %x, %y : i32\n%b# = arith.muli %a#, %a# : i32\n"
        '"test.op"(%b#) : (i32) -> ()\n'
    ),
    "dead ops": _groups("%a# = arith.addi %x, %y : i32\n%b# = arith.muli %a#, %a# : i32\n"),
    "constants": _groups(
        "%a# = arith.constant # : i32\n%b# = arith.addi %a#, %a# : i32\n"
        '%c# = arith.cmpi sgt, %b#, %a# : i32\n"test.op"(%b#, %c#) : (i32, i1) -> ()\n'
    ),
    "loops": _groups(
        "scf.for %i# = %zero to %n step %one {\n%a# = arith.addi %x, %y : i32\n"
        '%b# = arith.muli %a#, %x : i32\n"test.op"(%b#, %i#) : (i32, index) -> ()\n}\n',
        INDICES,
    ),
    "calls": _functions(
        "func.func private @f#(%x : i32) -> i32 {\n%a = arith.addi %x, %x : i32\n"
        "func.return %a : i32\n}\n",
        "%r# = func.call @f#(%x) : (i32) -> i32\n%s# = arith.addi %r#, %x : i32\n",
    ),
    "chain of calls": _functions(
        "func.func private @f#(%x : i32, %y : i32) -> (i32, i32) {\n"
        "%a, %b = func.call @g#(%x, %y) : (i32, i32) -> (i32, i32)\n"
        "func.return %a, %b : i32, i32\n}\n"
        "func.func private @g#(%x : i32, %y : i32) -> (i32, i32) {\n%a = arith.addi %y, %y : i32\n"
        "func.return %x, %a : i32, i32\n}\n",
        "%r#, %s# = func.call @f#(%x, %y) : (i32, i32) -> (i32, i32)\n"
        '"test.op"(%r#) : (i32) -> ()\n',
    ),
    "private functions": _functions(
        "func.func private @f#(%x : i32) -> i32 {\n%a = arith.addi %x, %x : i32\n"
        "func.return %a : i32\n}\n"
    ),
    "public functions": _functions(
        "func.func @f#(%x : i32) -> i32 {\n%a = arith.addi %x, %x : i32\nfunc.return %a : i32\n}\n"
    ),
    "scalars in memory": _groups(
        "%m# = memref.alloca() : memref<i32>\nmemref.store %x, %m#[] : memref<i32>\n"
        "scf.if %c {\nmemref.store %y, %m#[] : memref<i32>\n}\n"
        '%a# = memref.load %m#[] : memref<i32>\n"test.op"(%a#) : (i32) -> ()\n'
    ),
    "one scalar in memory": _groups(
        "%a# = memref.load %m[] : memref<i32>\n%b# = arith.addi %a#, %x : i32\n"
        "memref.store %b#, %m[] : memref<i32>\n",
        "%m = memref.alloca() : memref<i32>\nmemref.store %x, %m[] : memref<i32>\n",
    ),
    "one scalar in blocks": _groups(
        "%a# = memref.load %m[] : memref<i32>\ncf.cond_br %c, ^a#, ^b#\n^a#:\n"
        "memref.store %y, %m[] : memref<i32>\ncf.br ^b#\n^b#:\n",
        "%m = memref.alloca() : memref<i32>\nmemref.store %x, %m[] : memref<i32>\n",
    ),
    "pairs in memory": _groups(
        "%m# = memref.alloca() : memref<2xi32>\nmemref.store %x, %m#[%zero] : memref<2xi32>\n"
        "memref.store %y, %m#[%one] : memref<2xi32>\n"
        '%a# = memref.load %m#[%one] : memref<2xi32>\n"test.op"(%a#) : (i32) -> ()\n',
        INDICES,
    ),
    "ops for a branch": _groups(
        "%a# = arith.addi %x, %y : i32\n%b# = arith.muli %a#, %x : i32\n"
        'scf.if %c {\n"test.op"(%b#) : (i32) -> ()\n}\n'
    ),
    "ranges": _groups(
        "%a# = arith.index_cast %n : index to i64\n%b# = arith.constant # : i64\n"
        "%d# = arith.remui %a#, %seven : i64\n%e# = arith.cmpi ult, %d#, %seven : i64\n"
        '"test.op"(%e#) : (i1) -> ()\n',
        "%seven = arith.constant 7 : i64\n",
    ),
    "accesses": _groups(
        "%a# = memref.load %m[%n] : memref<8xi32>\nmemref.store %a#, %m[%one] : memref<8xi32>\n",
        INDICES + "%m = memref.alloca() : memref<8xi32>\n",
    ),
}
"""Inputs of about a number of operations, by name."""

FLAT = ("scalar ops", "one operand", "one condition", "nested loops")

BLOCKS = ("one condition of blocks", "one target of blocks")

GENERAL: Mapping[str, tuple[str, ...]] = {
    "canonicalize": (*FLAT, *BLOCKS, "identities", "dead ops", "constants"),
    "cse": (*FLAT, *BLOCKS, "equal ops"),
    "dead-code-elimination": (*FLAT, "dead ops"),
    "sccp": (*FLAT, *BLOCKS, "constants", "calls"),
    "loop-invariant-code-motion": (*FLAT, "loops"),
    "inline": (*FLAT, "calls", "chain of calls"),
    "mem2reg": (
        *FLAT,
        *BLOCKS,
        "scalars in memory",
        "one scalar in memory",
        "one scalar in blocks",
    ),
    "mem2reg{region-simplify=false}": ("one scalar in blocks",),
    "sroa": (*FLAT, "pairs in memory"),
    "control-flow-sink": (*FLAT, "ops for a branch"),
    "symbol-dce": (*FLAT, "private functions", "calls"),
    "symbol-privatize": (*FLAT, "public functions"),
    "remove-dead-values": (*FLAT, *BLOCKS, "dead ops", "chain of calls"),
    "int-range-optimizations": (*FLAT, "ranges", "constants"),
    "generate-runtime-verification": (*FLAT, "accesses"),
    "topological-sort": (*FLAT,),
    "strip-debuginfo": (*FLAT,),
    "eliminate-common-subexpr": (*FLAT, "equal ops"),
    "remove-unused-functions": (*FLAT, "private functions"),
    "remove-unused-parameters": (*FLAT, "chain of calls"),
    "composite-fixed-point-pass{pipeline=canonicalize,cse}": ("scalar ops", "identities"),
}
"""Pass -> its inputs."""
