"""ViewOpGraph: print a module as a graph in the language of Graphviz."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from typing import TextIO, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.printer import Printer

from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import name_of, walk

Steps: TypeAlias = "Iterator[Steps]"
"""The work on an operation, region or block, which yields that on what is nested in it."""


@dataclass(frozen=True)
class GraphStyle:
    """The parts of operations and the edges that a graph shows: MLIR's options of the pass."""

    max_label_len: int = 20
    print_attrs: bool = True
    print_control_flow_edges: bool = False
    print_data_flow_edges: bool = True
    print_result_types: bool = True


def print_graph(root: Operation, stream: TextIO, style: GraphStyle = GraphStyle()) -> None:
    """Print `root` as a graph: operations are nodes, those with regions, regions and blocks are
    clusters, and uses and the order of operations are edges."""
    _GraphPrinter(root, stream, style).run()


class _GraphPrinter:
    def __init__(self, root: Operation, stream: TextIO, style: GraphStyle) -> None:
        self.root = root
        self.stream = stream
        self.style = style
        self.count = 0
        self.depth = 0
        self.nodes: dict[SSAValue | Operation, tuple[int, int]] = {}
        """The node of a value or operation, and its cluster, 0 if it is none."""
        self.edges: list[str] = []
        self.uses: list[tuple[SSAValue, Operation]] = []
        self.text = StringIO()
        self.printer = Printer(self.text)
        names = dict.fromkeys(name_of(op) for op in walk(root))
        self.colors = {
            name: f"{number / len(names):.6f} 0.3 0.95" for number, name in enumerate(names)
        }

    def run(self) -> None:
        """Print the graph; generators on a stack take the place of recursion."""
        self.line("digraph G {")
        self.depth += 1
        self.line("compound = true;")
        pending: list[Steps] = [self.operation(self.root)]
        while pending:
            if (inner := next(pending[-1], None)) is None:
                pending.pop()
            else:
                pending.append(inner)
        for value, user in self.uses:
            self.edge(self.nodes[value], self.nodes[user], "solid", self.port(value))
        for edge in self.edges:
            self.line(edge)
        self.depth -= 1
        self.line("}")

    def operation(self, op: Operation) -> Steps:
        """Print an operation: a cluster if it has regions, else a node."""
        if op.regions:
            self.nodes[op] = self.open(self.cluster_label(op))
            for region in op.regions:
                yield self.region(region)
            self.close()
        else:
            self.nodes[op] = self.node(self.record(op), "Mrecord", self.colors[name_of(op)]), 0
        for result in op.results:
            self.nodes[result] = self.nodes[op]
        if self.style.print_data_flow_edges:
            self.uses += [(operand, op) for operand in op.operands]

    def region(self, region: Region) -> Steps:
        """Print a region: a cluster of blocks, which is left out if there is one block."""
        for block in region.blocks:
            yield self.block(block)

    def block(self, block: Block) -> Steps:
        """Print a block: a cluster of its arguments and operations."""
        self.open("")
        for argument in block.args:
            label = f"<res{self.port(argument)}> {self.shown(argument)}{self.type_of(argument)}"
            self.nodes[argument] = self.node(label, "Mrecord"), 0
        previous: Operation | None = None
        for op in block.ops:
            yield self.operation(op)
            if previous is not None and self.style.print_control_flow_edges:
                self.edge(self.nodes[previous], self.nodes[op], "dashed")
            previous = op
        self.close()

    def open(self, label: str) -> tuple[int, int]:
        """Open a cluster; return its invisible node, at which edges end, and its number."""
        self.count += 1
        cluster = self.count
        self.line(f"subgraph cluster_{cluster} {{")
        self.depth += 1
        anchor = self.node(" ", "plain")
        self.line(f'label = "{label}";')
        return anchor, cluster

    def close(self) -> None:
        self.depth -= 1
        self.line("}")

    def node(self, label: str, shape: str, color: str = "") -> int:
        self.count += 1
        fill = f'fillcolor = "{color}", ' if color else ""
        style = ", style = filled" if color else ""
        self.line(f'v{self.count} [{fill}label = "{label}", shape = {shape}{style}];')
        return self.count

    def edge(self, a: tuple[int, int], b: tuple[int, int], style: str, port: str = "") -> None:
        (source, source_cluster), (target, target_cluster) = a, b
        start = f":res{port}:s" if port and not source_cluster else ""
        end = f":arg{port}:n" if port and not target_cluster else ""
        head = f"lhead = cluster_{target_cluster}, " if target_cluster else ""
        tail = f"ltail = cluster_{source_cluster}, " if source_cluster else ""
        self.edges.append(f"v{source}{start} -> v{target}{end}[{head}{tail}style = {style}];")

    def record(self, op: Operation) -> str:
        """Return the label of a node: operands, name and attributes, results."""
        operands = "|".join(f"<arg{self.port(v)}> {self.shown(v)}" for v in op.operands)
        results = "|".join(
            f"<res{self.port(v)}> {self.shown(v)}{self.type_of(v)}" for v in op.results
        )
        attributes = self.attributes(op)
        middle = f"{name_of(op)}\\l" + (f"\\l{attributes}" if attributes else "")
        parts = [f"{{{operands}}}"] * bool(operands) + [middle] + [f"{{{results}}}"] * bool(results)
        return f"{{{'|'.join(parts)}}}"

    def cluster_label(self, op: Operation) -> str:
        """Return the label of a cluster: name, result types and attributes."""
        types = ""
        if self.style.print_result_types:
            text = ", ".join(self.printed(result.type) for result in op.results)
            types = f" : ({_escaped(self.shortened(text))})"
        return f"{name_of(op)}{types}\\l{self.attributes(op)}"

    def attributes(self, op: Operation) -> str:
        """Return the attributes of an operation, a line each."""
        if not self.style.print_attrs:
            return ""
        found = {**op.properties, **op.attributes}
        return "".join(
            f"{_escaped(name)}: {_escaped(self.shortened(self.printed(value)))}\\l"
            for name, value in sorted(found.items())
        )

    def type_of(self, value: SSAValue) -> str:
        if not self.style.print_result_types:
            return ""
        return f" {_escaped(self.shortened(self.printed(value.type)))}"

    def shortened(self, text: str) -> str:
        length = self.style.max_label_len
        return text if len(text) <= length else f"{text[:length]}..."

    def printed(self, attribute: Attribute) -> str:
        self.printer.print_attribute(attribute)
        return self.taken()

    def shown(self, value: SSAValue) -> str:
        self.printer.print_ssa_value(value)
        return self.taken()

    def taken(self) -> str:
        text = self.text.getvalue()
        self.text.seek(0)
        self.text.truncate()
        return text

    def port(self, value: SSAValue) -> str:
        return self.shown(value).replace("%", "_").replace("#", "_")

    def line(self, text: str) -> None:
        print("  " * self.depth + text, file=self.stream)


def _escaped(text: str) -> str:
    """Return a text as part of a label of Graphviz."""
    return "".join(f"\\{c}" if c in '{|<}>\n"' else c for c in text)


@dataclass(frozen=True)
class ViewOpGraph(ModulePass):
    """Print the module on stderr as a graph in the language of Graphviz.

    Operations are nodes, uses are edges, regions and blocks are clusters. Source: MLIR's pass of
    this name.
    """

    name = "view-op-graph"

    max_label_len: int = field(default=20, metadata={"minimum": 1})
    """The length at which the texts of attributes and types are cut off."""
    print_attrs: bool = True
    print_control_flow_edges: bool = False
    """Show the order of the operations of a block."""
    print_data_flow_edges: bool = True
    """Show the uses of values."""
    print_result_types: bool = True

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        style = GraphStyle(
            self.max_label_len,
            self.print_attrs,
            self.print_control_flow_edges,
            self.print_data_flow_edges,
            self.print_result_types,
        )
        print_graph(module, sys.stderr, style)


class PrintOpGraph(ViewOpGraph):
    """Print the module on stderr as a graph: another name of `view-op-graph`."""

    name = "print-op-graph"
