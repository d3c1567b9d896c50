"""The layouts of convolutions that the target of a module chooses."""

from __future__ import annotations

import pytest
from support.parsing import parsed
from support.passes.results import compare
from xdsl.dialects.builtin import ModuleOp

from passline.dialects.relax.contraction.convolution import Conv2dOp
from passline.dialects.target import Target, set_target
from passline.passes.relax.alter_op_layout import AlterOpLayout
from passline.passmanager import PassContext
from passline.passmanager.fast.clone import clone
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context


def network(*ops: str, x: str = "1x16x5x4", y: str, element: str = "f32") -> ModuleOp:
    """Return a function of `ops`, of which the last computes %y."""
    lines = "\n".join(ops)
    text = f"""func.func @main(%x: tensor<{x}x{element}>) -> tensor<{y}x{element}> {{
      {lines}
      func.return %y : tensor<{y}x{element}>
    }}"""
    return parsed(text)


def conv(
    name: str, data: str, x: str, weight: str, y: str, *, groups: int = 1, element: str = "f32"
) -> str:
    """Return the text of a convolution of %data, of shape `x`, with a constant weight."""
    types = [f"tensor<{shape}x{element}>" for shape in (x, weight, y)]
    return f"""%w{name} = relax.full 5.000000e-01 : {types[1]}
      %{name} = relax.nn.conv2d %{data}, %w{name} {{groups = {groups} : i64}}
        : ({types[0]}, {types[1]}) -> {types[2]}"""


def two_convolutions(element: str = "f32") -> ModuleOp:
    first = conv("a", "x", "1x16x5x4", "32x16x3x3", "1x32x3x2", element=element)
    last = conv("y", "a", "1x32x3x2", "16x32x1x1", "1x16x3x2", element=element)
    return network(first, last, y="1x16x3x2", element=element)


def layouts(module: ModuleOp, target: str) -> list[tuple[str, str]]:
    """Return the layouts of data and result of each convolution that `target` chooses, after a
    check that the module computes the same."""
    before = clone(module)
    set_target(module, Target(target))
    AlterOpLayout().apply(make_ir_context(), module)
    verify(module)
    compare(before, module)
    convs = [op.layouts() for op in walk(module) if isinstance(op, Conv2dOp)]
    return [(data.text, out.text) for data, _, out in convs]


@pytest.mark.parametrize(
    ("target", "block"), [("x86-64-v3", "NCHW8c"), ("x86-64-v4", "NCHW16c"), ("x86-64-v2", "NCHW")]
)
def test_blocks_are_as_long_as_vectors(target: str, block: str):
    assert layouts(two_convolutions(), target) == [(block, block)] * 2


def test_the_entered_target_chooses_unless_the_module_has_one():
    with Target("x86-64-v4"):
        (first, *_) = [
            op.layouts()
            for op in walk(AlterOpLayout()(two_convolutions()))
            if isinstance(op, Conv2dOp)
        ]
        assert first[0].text == "NCHW16c"
        assert layouts(two_convolutions(), "x86-64-v3") == [("NCHW8c", "NCHW8c")] * 2


def test_no_target_no_blocks():
    module = two_convolutions()
    before = str(module)
    AlterOpLayout().apply(make_ir_context(), module)
    assert str(module) == before


def test_channels_that_fill_no_block():
    first = conv("a", "x", "1x3x5x4", "16x3x1x1", "1x16x5x4")
    last = conv("y", "a", "1x16x5x4", "10x16x1x1", "1x10x5x4")
    module = network(first, last, x="1x3x5x4", y="1x10x5x4")
    assert layouts(module, "x86-64-v3") == [("NCHW", "NCHW8c"), ("NCHW8c", "NCHW")]
    first = conv("a", "x", "1x3x5x4", "6x3x1x1", "1x6x5x4")
    last = conv("y", "a", "1x6x5x4", "10x6x1x1", "1x10x5x4")
    module = network(first, last, x="1x3x5x4", y="1x10x5x4")
    assert layouts(module, "x86-64-v3") == [("NCHW", "NCHW")] * 2


def test_depthwise_convolutions_have_blocks():
    def network_of(image: str) -> ModuleOp:
        shape = f"1x16x{image}"
        ops = (
            conv("a", "x", shape, "16x16x1x1", shape),
            conv("b", "a", shape, "16x1x1x1", shape, groups=16),
            conv("y", "b", shape, "16x16x1x1", shape),
        )
        return network(*ops, x=shape, y=shape)

    assert layouts(network_of("5x4"), "x86-64-v3") == [("NCHW8c", "NCHW8c")] * 3
    assert layouts(network_of("?x?"), "x86-64-v3") == [("NCHW8c", "NCHW8c")] * 3


def test_unknown_batch_and_image():
    """Only the channels have to be known."""
    first = conv("a", "x", "?x16x?x?", "32x16x1x1", "?x32x?x?")
    last = conv("y", "a", "?x32x?x?", "16x32x1x1", "?x16x?x?")
    module = network(first, last, x="?x16x?x?", y="?x16x?x?")
    assert layouts(module, "x86-64-v3") == [("NCHW8c", "NCHW8c")] * 2
    first = conv("a", "x", "?x?x?x?", "32x16x1x1", "?x32x?x?")
    module = network(first, last, x="?x?x?x?", y="?x16x?x?")
    assert layouts(module, "x86-64-v3") == [("NCHW", "NCHW")] * 2


def test_a_convolution_alone_keeps_its_layout():
    module = network(conv("y", "x", "1x16x5x4", "32x16x3x3", "1x32x3x2"), y="1x32x3x2")
    assert layouts(module, "x86-64-v3") == [("NCHW", "NCHW")]


def test_element_wise_operations_and_pooling_follow():
    shape = "tensor<1x16x4x4xf32>"
    first = conv("a", "x", "1x16x4x4", "16x16x1x1", "1x16x4x4")
    relu = f"%b = relax.nn.relu %a : ({shape}) -> {shape}"
    pool = f"""%c = relax.nn.max_pool2d %b {{pool_size = [2, 2], strides = [2, 2]}}
      : ({shape}) -> tensor<1x16x2x2xf32>"""
    last = conv("y", "c", "1x16x2x2", "16x16x1x1", "1x16x2x2")
    module = network(first, relu, pool, last, x="1x16x4x4", y="1x16x2x2")
    assert layouts(module, "x86-64-v3") == [("NCHW8c", "NCHW8c")] * 2
    assert sum(op.name == "relax.layout_transform" for op in walk(module)) == 2


def network_of_groups(groups: int) -> ModuleOp:
    """Return a convolution in groups between two others."""
    return network(
        conv("a", "x", "1x16x5x4", "16x16x1x1", "1x16x5x4"),
        conv("b", "a", "1x16x5x4", f"32x{16 // groups}x1x1", "1x32x5x4", groups=groups),
        conv("y", "b", "1x32x5x4", "16x32x1x1", "1x16x5x4"),
        y="1x16x5x4",
    )


def test_groups_of_whole_blocks():
    blocks = "NCHW8c", "NCHW8c"
    assert layouts(network_of_groups(2), "x86-64-v3") == [blocks] * 3
    assert layouts(network_of_groups(4), "x86-64-v3") == [("NCHW", "NCHW")] * 3


@pytest.mark.parametrize("between", ["", "%b = relax.nn.relu %a : (TYPE) -> TYPE"])
@pytest.mark.parametrize("groups", [4, 8])
def test_neighbours_of_a_convolution_in_groups_keep_their_layout(groups: int, between: str):
    type = "tensor<1x16x5x4xf32>"
    near = "b" if between else "a"
    grouped = conv("c", near, "1x16x5x4", f"16x{16 // groups}x1x1", "1x16x5x4", groups=groups)
    module = network(
        conv("a", "x", "1x16x5x4", "16x16x1x1", "1x16x5x4"),
        between.replace("TYPE", type),
        grouped,
        conv("d", "c", "1x16x5x4", "16x16x1x1", "1x16x5x4"),
        conv("y", "d", "1x16x5x4", "16x16x1x1", "1x16x5x4"),
        y="1x16x5x4",
    )
    plain = "NCHW", "NCHW"
    assert layouts(module, "x86-64-v3") == [plain, plain, plain, ("NCHW8c", "NCHW8c")]


def test_blocks_of_f16_are_as_long_as_vectors_of_sums():
    assert layouts(two_convolutions("f16"), "x86-64-v4") == [("NCHW16c", "NCHW16c")] * 2


def test_other_elements_keep_their_layout():
    assert layouts(two_convolutions("f64"), "x86-64-v4") == [("NCHW", "NCHW")] * 2


def test_winograds_algorithm_keeps_the_layout_that_it_reads():
    a = conv("a", "x", "1x16x5x4", "16x16x3x3", "1x16x3x2")
    module = network(a, conv("y", "a", "1x16x3x2", "16x16x1x1", "1x16x3x2"), y="1x16x3x2")
    with PassContext(config={"legalize-ops": {"winograd": "f4"}}):
        assert layouts(module, "x86-64-v3") == [("NCHW", "NCHW"), ("NCHW8c", "NCHW8c")]


def bytes_network(channels: int, *, groups: int = 1, element: str = "ui8") -> ModuleOp:
    """Return a convolution of bytes, and the depthwise one or that in `groups` of its result."""
    sums, data = f"1x{channels}x6x7xi32", f"1x{channels}x6x7x{element}"
    return parsed(f"""func.func @main(%x: tensor<1x3x8x9x{element}>) -> tensor<{sums}> {{
          %v = relax.full 3 : tensor<{channels}x3x3x3xi8>
          %w = relax.full 2 : tensor<{channels}x{channels // groups}x3x3xi8>
          %s = relax.full 1.250000e-01 : tensor<{channels}x1x1xf32>
          %z = relax.full 3 : tensor<{element}>
          %0 = relax.nn.conv2d %x, %v {{out_dtype = i32}}
            : (tensor<1x3x8x9x{element}>, tensor<{channels}x3x3x3xi8>) -> tensor<{sums}>
          %1 = relax.requantize %0, %s, %z
            : (tensor<{sums}>, tensor<{channels}x1x1xf32>, tensor<{element}>) -> tensor<{data}>
          %2 = relax.nn.conv2d %1, %w {{groups = {groups} : i64, padding = [1, 1], out_dtype = i32}}
            : (tensor<{data}>, tensor<{channels}x{channels // groups}x3x3xi8>) -> tensor<{sums}>
          func.return %2 : tensor<{sums}>
        }}""")


VNNI = 'x86-64-v4{features="+avx512f,+avx512vnni"}'


@pytest.mark.parametrize(
    ("target", "block"),
    [("x86-64-v3", "NCHW8c"), (VNNI, "NCHW16c"), ("x86-64-v2", "NCHW"), ("aarch64", "NCHW")],
)
@pytest.mark.parametrize("groups", [1, 2, 32])
def test_convolutions_of_bytes_have_blocks_as_long_as_vectors_of_sums(
    target: str, block: str, groups: int
):
    expected = [("NCHW", block), (block, block)]
    assert layouts(bytes_network(32, groups=groups), target) == expected


def test_channels_of_bytes_that_fill_no_block_stay():
    assert layouts(bytes_network(12, groups=12), "x86-64-v3") == [("NCHW", "NCHW")] * 2


def test_convolutions_of_bytes_in_groups_that_fill_no_block_stay_and_those_beside_them():
    assert layouts(bytes_network(16, groups=4), "x86-64-v3") == [("NCHW", "NCHW")] * 2


def test_signed_bytes_stay():
    """No instruction multiplies them with signed ones."""
    assert layouts(bytes_network(16, element="i8"), "x86-64-v3") == [("NCHW", "NCHW")] * 2
