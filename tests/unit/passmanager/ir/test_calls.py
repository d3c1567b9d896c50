"""Interfaces of calls and callables."""

from __future__ import annotations

from support.parsing import parsed
from support.tables import table_test
from xdsl.dialects.builtin import i32

from passline.passmanager.ir.calls import CALLABLES, callable_region


@table_test(
    "text",
    [
        "transform.named_sequence @f(%x: i32) -> i32 { transform.yield %x : i32 }",
        "pdl_interp.func @f(%x: i32) -> i32 { pdl_interp.finalize }",
    ],
)
def test_functions_for_which_xdsl_has_the_interface_of_func(text: str) -> None:
    """xDSL declares a trait for them that refuses all but `func.func`."""
    function = parsed(text).body.block.first_op
    assert function is not None and callable_region(function) is function.regions[0]
    interface = CALLABLES[type(function)]
    assert interface is not None
    assert interface.get_argument_types(function) == (i32,)
    assert interface.get_result_types(function) == (i32,)
