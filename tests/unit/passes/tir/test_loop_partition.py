"""LoopPartition: options with the names of TVM, the limit of growth, remarks."""

from __future__ import annotations

from collections import Counter

from support.parsing import parsed
from support.suites.inprocess import passline_opt
from xdsl.dialects.builtin import ModuleOp

from passline.passes.tir.loop_partition import LoopPartition
from passline.passmanager import PassContext

TILED = """
tir.prim_func @f(%a: memref<21xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c21 = arith.constant 21 : index
  tir.for %io = %c0 extent %c6 {
    tir.for %ii = %c0 extent %c4 {
      %i4 = arith.muli %io, %c4 : index
      %i = arith.addi %i4, %ii : index
      %p = arith.cmpi slt, %i, %c21 : index
      %likely = tir.likely %p
      scf.if %likely {
        memref.store %x, %a[%i] : memref<21xf32>
      }
    }
  }
}
"""


def counts(module: ModuleOp) -> Counter[str]:
    """Count the operations of each name."""
    return Counter(op.name for op in module.walk())


def tails(depth: int) -> str:
    """Return a nest of `depth` loops over tiles, each tile with a tail."""
    heads = [f"tir.for %o{k} = %c0 extent %c6 {{" for k in range(depth)]
    for k in range(depth):
        heads.append(
            f"""tir.for %i{k} = %c0 extent %c4 {{
              %t{k} = arith.muli %o{k}, %c4 : index
              %x{k} = arith.addi %t{k}, %i{k} : index
              %p{k} = arith.cmpi slt, %x{k}, %c21 : index
              %l{k} = tir.likely %p{k}
              scf.if %l{k} {{"""
        )
    return f"""
    tir.prim_func @f(%a: memref<21xf32>, %x: f32) {{
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c6 = arith.constant 6 : index
      %c21 = arith.constant 21 : index
      {" ".join(heads)}
      memref.store %x, %a[%c0] : memref<21xf32>
      {"}" * 3 * depth}
    }}
    """


def test_options_are_read_from_the_context():
    module = parsed(TILED)
    assert counts(LoopPartition()(module))["scf.if"] == 1
    for unit_loops, loops in ((False, 2), (True, 4)):
        options = {
            "partition_const_loop": True,
            "no_unroll_loop_with_extent_one": unit_loops,
        }
        with PassContext(config={"tir.LoopPartition": options}):
            found = counts(LoopPartition()(module))
        assert (found["scf.if"], found["tir.for"]) == (0, loops)


def test_every_tail_doubles_the_nest():
    for depth in (1, 2, 3):
        found = counts(LoopPartition(partition_const_loop=True)(parsed(tails(depth))))
        assert found["scf.if"] == 0 and found["memref.store"] == 2**depth


def test_a_function_does_not_grow_beyond_the_limit():
    module = parsed(tails(7))
    size = counts(module).total()
    split = LoopPartition(partition_const_loop=True, max_growth=4)(module)
    assert size < counts(split).total() < 6 * size
    text = str(module)
    pipeline = "tir-loop-partition{partition-const-loop max-growth=4}"
    result = passline_opt("-p", pipeline, "--remarks-missed", stdin=text)
    assert "the function has grown too much" in result.stderr


def test_remarks_name_split_loops_and_others():
    pipeline = "tir-loop-partition{partition-const-loop}"
    result = passline_opt("-p", pipeline, "--remarks-passed", stdin=TILED)
    assert "[Passed] Partitioned" in result.stderr and "Parts=2" in result.stderr
    wide = TILED.replace("%i4, %ii :", "%i4, %far :").replace(
        "%i =", "%far = arith.muli %ii, %c21 : index\n      %i ="
    )
    result = passline_opt("-p", pipeline, "--remarks-missed", stdin=wide)
    assert "[Missed] NotPartitioned" in result.stderr
    assert "there is no interval in which its conditions are known" in result.stderr
