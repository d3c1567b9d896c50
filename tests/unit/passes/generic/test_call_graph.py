"""CallGraph: references between symbols, and orders that follow from them."""

from __future__ import annotations

from collections.abc import Iterable

from support.passes.toy import toy_context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.parser import Parser

from passline.passes.generic.call_graph import CallGraph

MODULE = """
builtin.module {
  func.func @main() { func.call @a() : () -> () func.call @b() : () -> () func.return }
  func.func @a() { func.call @b() : () -> () func.return }
  func.func @b() { func.call @missing() : () -> () func.return }
  func.func @loop() { func.call @loop() : () -> () func.return }
  func.func @stored() { func.return }
  "test.op"() {f = [{g = @stored}]} : () -> ()
}
"""


def parse(text: str = MODULE) -> tuple[ModuleOp, CallGraph]:
    module = Parser(toy_context(), text).parse_module()
    return module, CallGraph(module)


def names(ops: Iterable[Operation]) -> list[str]:
    return [op.sym_name.data for op in ops if isinstance(op, FuncOp)]


def test_callees_in_the_order_of_their_first_calls() -> None:
    _, graph = parse()
    assert names(graph.callees(graph.symbols["main"])) == ["a", "b"]


def test_callers() -> None:
    _, graph = parse()
    assert names(graph.callers(graph.symbols["b"])) == ["main", "a"]
    assert graph.callers(graph.symbols["main"]) == ()


def test_recursive_function_calls_itself() -> None:
    _, graph = parse()
    loop = graph.symbols["loop"]
    assert graph.callees(loop) == graph.callers(loop) == (loop,)


def test_reference_inside_other_attributes_counts() -> None:
    module, graph = parse()
    assert names(graph.callees(list(module.ops)[-1])) == ["stored"]


def test_unresolved_names_are_kept() -> None:
    _, graph = parse()
    assert graph.unresolved(graph.symbols["b"]) == ("missing",)
    assert graph.unresolved(graph.symbols["a"]) == ()


def test_reachable_from_roots() -> None:
    _, graph = parse()
    assert sorted(names(graph.reachable([graph.symbols["a"]]))) == ["a", "b"]
    assert graph.reachable([]) == set()


def test_callees_come_first() -> None:
    module, graph = parse()
    order = list(graph.callees_first())
    assert len(order) == len(list(module.ops))
    assert names(order) == ["b", "a", "main", "loop", "stored"]


def test_long_chain_of_calls_needs_no_recursion() -> None:
    calls = "\n".join(
        f"func.func @f{i}() {{ func.call @f{i + 1}() : () -> () func.return }}" for i in range(2000)
    )
    _, graph = parse(f"builtin.module {{ {calls} func.func @f2000() {{ func.return }} }}")
    assert names(list(graph.callees_first()))[:2] == ["f2000", "f1999"]
