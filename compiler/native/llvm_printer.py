"""The text of LLVM IR for a module in the dialect llvm.

xDSL's own translation (`xdsl.backend.llvm`) builds objects of llvmlite, which print themselves:
that takes several times as long, and leaves out comparisons of vectors, flags and metadata.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.llvm_extension import UNPREDICTABLE, FCmpOp, PoisonOp
from ...passes.llvm.lower_arith import suffix
from ...passmanager.errors import PasslineError
from ...passmanager.ir.location import place_of
from ...passmanager.releases.floats import pack
from ..releases import BrOp, ShuffleVectorOp
from .codegen import escaped

PLAIN_NAME = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*")
LOWERED_BY = {
    "affine": "lower-affine",
    "arith": "lower-arith",
    "cf": "lower-func",
    "func": "lower-func",
    "math": "lower-math",
    "memref": "lower-memref",
    "scf": "lower-scf",
    "ub": "lower-arith",
    "vector": "lower-vector",
}
"""The passes that turn dialects into the dialect llvm."""

BINARY = (
    "add sub mul shl udiv sdiv urem srem and or xor lshr ashr fadd fsub fmul fdiv frem"
).split()
CASTS = (
    "bitcast fpext fptosi fptoui fptrunc inttoptr ptrtoint sext sitofp trunc uitofp zext".split()
)
NAMED_TYPES: Mapping[Attribute, str] = {
    Float32Type(): "float",
    Float64Type(): "double",
    Float16Type(): "half",
    BFloat16Type(): "bfloat",
    llvm.LLVMVoidType(): "void",
}
"""The types whose text is a name."""
WRAP = ("", " nsw", " nuw", " nsw nuw")
"""The flags of integer arithmetic by their number."""
ORDERINGS = ("", "unordered", "monotonic", "consume", "acquire", "release", "acq_rel", "seq_cst")
"""The orderings of atomic accesses by their number."""
FLAGS = {
    "llvm.inreg": "inreg",
    "llvm.noalias": "noalias",
    "llvm.nocapture": "captures(none)",
    "llvm.nofree": "nofree",
    "llvm.nonnull": "nonnull",
    "llvm.noundef": "noundef",
    "llvm.readonly": "readonly",
    "llvm.returned": "returned",
    "llvm.signext": "signext",
    "llvm.writeonly": "writeonly",
    "llvm.zeroext": "zeroext",
}
"""The attributes of parameters without a value."""
NUMBERS = {"llvm.align": "align {}", "llvm.dereferenceable": "dereferenceable({})"}
"""The attributes of parameters with a number."""


def llvm_ir(
    module: ModuleOp, *, exported: Collection[str] | None = None, declared: Collection[str] = ()
) -> str:
    """Return the LLVM IR of a module in the dialect llvm.

    If `exported` is given, all functions but these are internal. Functions in `declared` are
    declared only.

    PasslineError for an operation of another dialect, and for one that is not known.
    """
    writer = ModuleWriter()
    for op in module.ops:
        match op:
            case llvm.GlobalOp():
                writer.write_global(op)
            case llvm.FuncOp():
                name = op.sym_name.data
                linkage = op.linkage.linkage.data
                if exported is not None:
                    linkage = "external" if name in exported else "internal"
                writer.write_function(op, linkage, is_declared=name in declared)
            case _:
                raise not_translated(op)
    writer.lines += sorted(writer.intrinsics.values())
    return "\n".join((*writer.lines, ""))


def not_translated(op: Operation) -> PasslineError:
    """Return the error that an operation has no form in LLVM IR."""
    text = f"'{op.name}'{place_of(op)} cannot be translated to LLVM IR"
    if (name := LOWERED_BY.get(op.name.partition(".")[0])) is not None:
        return PasslineError(f"{text}: '{name}' has to turn it into the dialect llvm first")
    return PasslineError(f"{text}: no pass lowers it to the dialect llvm")


class ModuleWriter:
    """The text of a module as it grows."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.intrinsics: dict[str, str] = {}
        """The declarations of the intrinsics that are called, by their names."""
        self._types = dict(NAMED_TYPES)

    def type(self, type: Attribute) -> str:
        """Return the text of a type."""
        if (text := self._types.get(type)) is None:
            text = self._types[type] = self._type(type)
        return text

    def _type(self, type: Attribute) -> str:
        match type:
            case IntegerType():
                return f"i{type.bitwidth}"
            case llvm.LLVMPointerType():
                space = type.addr_space
                return f"ptr addrspace({space.data})" if isinstance(space, IntAttr) else "ptr"
            case llvm.LLVMArrayType():
                return f"[{type.size.data} x {self.type(type.type)}]"
            case llvm.LLVMStructType():
                return f"{{ {', '.join(map(self.type, type.types.data))} }}"
            case VectorType() if type.get_num_dims() == 1:
                scalable = "vscale x " if type.get_num_scalable_dims() else ""
                return f"<{scalable}{type.get_shape()[0]} x {self.type(type.element_type)}>"
            case _:
                raise PasslineError(f"the type {type} is none of LLVM's")

    def constant(self, value: Attribute, type: Attribute) -> str:
        """Return the text of a constant, without its type."""
        match value:
            case IntegerAttr():
                number = value.value.data
                if type == IntegerType(1):
                    return "true" if number else "false"
                return str(number)
            case FloatAttr():
                return float_text(value.value.data, value.type)
            case DenseIntOrFPElementsAttr():
                return self.elements(value, type)
            case _:
                raise PasslineError(f"the constant {value} is none of LLVM's")

    def elements(self, value: DenseIntOrFPElementsAttr, type: Attribute) -> str:
        """Return the text of the elements of a vector or an array."""
        if isinstance(type, VectorType):
            element = cast("VectorType[Attribute]", type).element_type
            start, end = "<>"
        else:
            assert isinstance(type, llvm.LLVMArrayType)
            element, start, end = type.type, "[", "]"
        name = self.type(element)
        if not value.data.data:
            return f"{start}{end}"
        numbers = cast("Sequence[float]", value.get_values())
        is_integer = isinstance(element, IntegerType)
        texts = [
            f"{name} {int(number) if is_integer else float_text(number, element)}"
            for number in numbers
        ]
        if value.is_splat():
            if isinstance(type, VectorType):
                return f"splat ({texts[0]})"
            texts = texts[:1] * type.size.data
        return f"{start}{', '.join(texts)}{end}"

    def write_global(self, op: llvm.GlobalOp) -> None:
        name, type = symbol(op.sym_name.data), self.type(op.global_type)
        kind = "constant" if op.constant is not None else "global"
        linkage = op.linkage.linkage.data
        if op.value is None:
            value = " undef" if op.attributes else ""
        elif isinstance(op.value, StringAttr):
            value = f" c{quoted(op.value.data)}"
        else:
            value = f" {self.constant(op.value, op.global_type)}"
        if linkage == "external" and value:
            linkage = ""
        alignment = "" if op.alignment is None else f", align {op.alignment.value.data}"
        self.lines.append(f"{name} = {linkage} {kind} {type}{value}{alignment}")

    def write_function(self, op: llvm.FuncOp, linkage: str, *, is_declared: bool) -> None:
        type = op.function_type
        given = op.arg_attrs or [DictionaryAttr({})] * len(type.inputs)
        inputs = [
            " ".join((self.type(each), *parameter_attributes(attributes)))
            for each, attributes in zip(type.inputs, given, strict=True)
        ]
        inputs += ["..."] * type.is_variadic
        output = self.type(type.output)
        name, attributes = symbol(op.sym_name.data), function_attributes(op)
        if op.body.first_block is None or is_declared:
            self.lines.append(f"declare {output} {name}({', '.join(inputs)}){attributes}")
            return
        linkage = "" if linkage == "external" else f" {linkage}"
        body = FunctionWriter(self, op)
        arguments = ", ".join(
            f"{text} {body.names[arg]}"
            for text, arg in zip(inputs, op.body.blocks[0].args, strict=True)
        )
        self.lines.append(f"define{linkage} {output} {name}({arguments}){attributes} {{")
        self.lines += body.lines()
        self.lines.append("}")


def parameter_attributes(attributes: DictionaryAttr) -> Iterator[str]:
    """Yield the texts of those attributes of a parameter that LLVM knows."""
    for name, value in attributes.data.items():
        if name in FLAGS:
            yield FLAGS[name]
        elif name in NUMBERS and isinstance(value, IntegerAttr):
            yield NUMBERS[name].format(value.value.data)


def function_attributes(op: llvm.FuncOp) -> str:
    """Return the text of the attributes of a function."""
    texts = ["noinline"] if op.no_inline is not None else []
    texts += [each.data for each in op.passthrough or () if isinstance(each, StringAttr)]
    return "".join(f" {text}" for text in texts)


class FunctionWriter:
    """The text of the body of a function."""

    def __init__(self, module: ModuleWriter, function: llvm.FuncOp) -> None:
        self.module = module
        self.type = module.type
        self.blocks = [*function.body.blocks]
        self.labels = {block: f"b{number}" for number, block in enumerate(self.blocks)}
        self.names: dict[SSAValue, str] = {}
        """The names of values; of a constant, its text."""
        for number, arg in enumerate(arg for block in self.blocks for arg in block.args):
            self.names[arg] = f"%a{number}"
        number = 0
        for block in self.blocks:
            for op in block.ops:
                for result in op.results:
                    if (text := self._literal(op)) is None:
                        text = f"%{number}"
                        number += 1
                    self.names[result] = text

    def _literal(self, op: Operation) -> str | None:
        """Return the text of the result of an operation that is not an instruction."""
        match op:
            case llvm.ConstantOp():
                return self.module.constant(op.value, op.result.type)
            case llvm.AddressOfOp():
                return symbol(op.global_name.string_value())
            case llvm.UndefOp():
                return "undef"
            case PoisonOp():
                return "poison"
            case llvm.ZeroOp():
                return "zeroinitializer" if op.res.type != POINTER else "null"
            case _:
                return None

    def lines(self) -> Iterator[str]:
        """Yield the lines of the body."""
        incoming = self.incoming()
        for block in self.blocks:
            yield f"{self.labels[block]}:"
            if block is not self.blocks[0]:
                yield from self.phis(block, incoming.get(block, []))
            for op in block.ops:
                if type(op) in LITERALS:
                    continue
                if (write := INSTRUCTIONS.get(op.name)) is not None:
                    text = write(op, self)
                elif op.name.startswith("llvm.intr."):
                    text = intrinsic(op, self)
                else:
                    raise not_translated(op)
                yield f"  {self.names[op.results[0]]} = {text}" if op.results else f"  {text}"

    def incoming(self) -> dict[Block, list[tuple[str, Sequence[SSAValue]]]]:
        """Return, for each block, the label of each branch to it, and the values that it passes."""
        found: dict[Block, list[tuple[str, Sequence[SSAValue]]]] = {}
        for block in self.blocks:
            match op := block.last_op:
                case BrOp():
                    found.setdefault(op.successor, []).append((self.labels[block], op.arguments))
                case llvm.CondBrOp():
                    pairs = (op.then_block, op.then_arguments), (op.else_block, op.else_arguments)
                    for successor, values in pairs:
                        found.setdefault(successor, []).append((self.labels[block], values))
                case _:
                    pass
        return found

    def phis(
        self, block: Block, incoming: Sequence[tuple[str, Sequence[SSAValue]]]
    ) -> Iterator[str]:
        """Yield the instructions that stand for the arguments of a block."""
        for number, arg in enumerate(block.args):
            pairs = ", ".join(f"[ {self.names[v[number]]}, %{label} ]" for label, v in incoming)
            yield f"  {self.names[arg]} = phi {self.type(arg.type)} {pairs}"

    def typed(self, value: SSAValue) -> str:
        """Return the name of a value after its type."""
        return f"{self.type(value.type)} {self.names[value]}"

    def call(self, name: str, operands: Sequence[SSAValue], results: Sequence[SSAValue]) -> str:
        """Return the call of a function, which is declared if it is an intrinsic."""
        output = self.type(results[0].type) if results else "void"
        if name.startswith("llvm.") and name not in self.module.intrinsics:
            inputs = ", ".join(self.type(operand.type) for operand in operands)
            self.module.intrinsics[name] = f"declare {output} {symbol(name)}({inputs})"
        return f"{output} {symbol(name)}({', '.join(map(self.typed, operands))})"


POINTER = llvm.LLVMPointerType()
Writer: TypeAlias = Callable[[Any, FunctionWriter], str]


# Instructions


def flags_of(op: Operation) -> str:
    """Return the fast-math flags of an operation, each after a space."""
    flags = op.properties.get("fastmathFlags")
    if not isinstance(flags, llvm.FastMathAttr) or not flags.data:
        return ""
    names = [flag.value for flag in flags.data]
    return " fast" if len(names) == ALL_FLAGS else "".join(f" {name}" for name in names)


ALL_FLAGS = 7


def name_of(op: Operation) -> str:
    """Return the name of an instruction, which is that of its operation."""
    return op.name.removeprefix("llvm.")


def binary(op: Operation, w: FunctionWriter) -> str:
    a, b = op.operands
    wrap = op.properties.get("overflowFlags")
    flags = WRAP[wrap.value.data] if isinstance(wrap, IntegerAttr) else flags_of(op)
    flags += " exact" if "isExact" in op.properties else ""
    flags += " disjoint" if "isDisjoint" in op.properties else ""
    return f"{name_of(op)}{flags} {w.typed(a)}, {w.names[b]}"


def conversion(op: Operation, w: FunctionWriter) -> str:
    wrap = op.properties.get("overflowFlags")
    flags = WRAP[wrap.to_int()] if isinstance(wrap, llvm.OverflowAttr) else ""
    flags += " nneg" if "nonNeg" in op.properties else ""
    return f"{name_of(op)}{flags} {w.typed(op.operands[0])} to {w.type(op.results[0].type)}"


def of_operands(op: Operation, w: FunctionWriter) -> str:
    """An instruction with nothing but operands, each with its type."""
    return f"{name_of(op)}{flags_of(op)} {', '.join(map(w.typed, op.operands))}"


def selection(op: Operation, w: FunctionWriter) -> str:
    metadata = ", !unpredictable !{}" if UNPREDICTABLE in op.attributes else ""
    return f"{of_operands(op, w)}{metadata}"


def of_fields(op: llvm.ExtractValueOp | llvm.InsertValueOp, w: FunctionWriter) -> str:
    """An instruction on a field of a structure."""
    return f"{of_operands(op, w)}, {', '.join(map(str, op.position.get_values()))}"


def compare_integers(op: llvm.ICmpOp, w: FunctionWriter) -> str:
    predicate = llvm.ICmpPredicateFlag.from_int(op.predicate.value.data)
    return f"icmp {predicate} {w.typed(op.lhs)}, {w.names[op.rhs]}"


def compare_floats(op: llvm.FCmpOp | FCmpOp, w: FunctionWriter) -> str:
    predicate = PREDICATES[op.predicate.value.data]
    return f"fcmp{flags_of(op)} {predicate} {w.typed(op.lhs)}, {w.names[op.rhs]}"


PREDICATES = (
    "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true"  # as LLVM numbers them
).split()


def load(op: llvm.LoadOp, w: FunctionWriter) -> str:
    ordering = ORDERINGS[op.ordering.value.data]
    start = "load atomic" if ordering else "load"
    type, end = w.type(op.dereferenced_value.type), f" {ordering}" * bool(ordering)
    return f"{start} {type}, {w.typed(op.ptr)}{end}{alignment(op.alignment)}"


def store(op: llvm.StoreOp, w: FunctionWriter) -> str:
    ordering = "" if op.ordering is None else ORDERINGS[op.ordering.value.data]
    start = "store atomic" if ordering else "store"
    start += " volatile" if op.volatile_ is not None else ""
    end = f" {ordering}" * bool(ordering)
    return f"{start} {w.typed(op.value)}, {w.typed(op.ptr)}{end}{alignment(op.alignment)}"


def alignment(value: IntegerAttr | None) -> str:
    return "" if value is None else f", align {value.value.data}"


def element_pointer(op: llvm.GEPOp, w: FunctionWriter) -> str:
    flags = op.noWrapFlags.value.data
    start = "getelementptr"
    start += " inbounds" if op.inbounds is not None or flags & 1 else " nusw" if flags & 2 else ""
    start += " nuw" if flags & 4 else ""
    given = iter(op.ssa_indices)
    indices = [
        w.typed(next(given)) if number == llvm.GEP_USE_SSA_VAL else f"i32 {number}"
        for number in op.rawConstantIndices.get_values()
    ]
    return f"{start} {', '.join((w.type(op.elem_type), w.typed(op.ptr), *indices))}"


def allocation(op: llvm.AllocaOp, w: FunctionWriter) -> str:
    return f"alloca {w.type(op.elem_type)}, {w.typed(op.size)}{alignment(op.alignment)}"


def shuffle(op: ShuffleVectorOp, w: FunctionWriter) -> str:
    lanes = [*op.mask.get_values()]
    if any(lanes):
        texts = ", ".join("i32 poison" if lane == -1 else f"i32 {lane}" for lane in lanes)
        mask = f"<{texts}>"
    else:
        mask = "zeroinitializer"
    return f"shufflevector {w.typed(op.v1)}, {w.typed(op.v2)}, <{len(lanes)} x i32> {mask}"


def call(op: llvm.CallOp, w: FunctionWriter) -> str:
    if op.callee is None:
        callee, *operands = op.args
        output = w.type(op.results[0].type) if op.results else "void"
        return f"call {output} {w.names[callee]}({', '.join(map(w.typed, operands))})"
    if op.var_callee_type is not None:
        inputs = ", ".join((*map(w.type, op.var_callee_type.inputs), "..."))
        operands = ", ".join(map(w.typed, op.args))
        output = w.type(op.var_callee_type.output)
        return f"call {output} ({inputs}) {symbol(op.callee.string_value())}({operands})"
    return f"call{flags_of(op)} {w.call(op.callee.string_value(), op.args, op.results)}"


def call_intrinsic(op: llvm.CallIntrinsicOp, w: FunctionWriter) -> str:
    return f"call{flags_of(op)} {w.call(op.intrin.data, op.args, op.results)}"


def intrinsic(op: Operation, w: FunctionWriter) -> str:
    """The operations `llvm.intr.*` of xDSL stand for the intrinsics of their names."""
    name = op.name.replace("llvm.intr.", "llvm.", 1)
    if op.operands:
        typed = op.operands[-1 if ".vector.reduce." in name else 0]
        name += f".{suffix(typed.type)}"
    return f"call{flags_of(op)} {w.call(name, op.operands, op.results)}"


def assembly(op: llvm.InlineAsmOp, w: FunctionWriter) -> str:
    effects = " sideeffect" if op.has_side_effects is not None else ""
    output = w.type(op.res.type) if op.res is not None else "void"
    texts = f"{quoted(op.asm_string.data)}, {quoted(op.constraints.data)}"
    return f"call {output} asm{effects} {texts}({', '.join(map(w.typed, op.operands_))})"


def conditional_branch(op: llvm.CondBrOp, w: FunctionWriter) -> str:
    labels = f"label %{w.labels[op.then_block]}, label %{w.labels[op.else_block]}"
    return f"br {w.typed(op.cond)}, {labels}"


WRITERS: dict[str, Writer] = {
    **dict.fromkeys(BINARY, binary),
    **dict.fromkeys(CASTS, conversion),
    **dict.fromkeys(("extractelement", "fneg", "insertelement"), of_operands),
    "select": selection,
    **dict.fromkeys(("extractvalue", "insertvalue"), of_fields),
    "icmp": compare_integers,
    "fcmp": compare_floats,
    "load": load,
    "store": store,
    "getelementptr": element_pointer,
    "alloca": allocation,
    "shufflevector": shuffle,
    "call": call,
    "call_intrinsic": call_intrinsic,
    "inline_asm": assembly,
    "br": lambda op, w: f"br label %{w.labels[op.successor]}",
    "cond_br": conditional_branch,
    "return": lambda op, w: f"ret {w.typed(op.operands[0])}" if op.operands else "ret void",
    "unreachable": lambda op, w: "unreachable",
}
INSTRUCTIONS = {f"llvm.{name}": write for name, write in WRITERS.items()}
"""How the operations of the dialect, by their names, are written."""
LITERALS = frozenset((llvm.ConstantOp, llvm.AddressOfOp, llvm.UndefOp, llvm.ZeroOp, PoisonOp))
"""The operations that are not instructions: their results are written where they are used."""


# Text


def symbol(name: str) -> str:
    """Return the text of the name of a global or a function."""
    return f"@{name}" if PLAIN_NAME.fullmatch(name) else f"@{quoted(name)}"


def quoted(text: str) -> str:
    """Return a string of LLVM IR."""
    return f'"{escaped(text.encode())}"'


def float_text(value: float, type: Attribute) -> str:
    """Return the text of a float: its bits, those of f32 as the ones of an f64."""
    match type:
        case Float32Type() | Float64Type():
            return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        case Float16Type() | BFloat16Type():
            bits = int.from_bytes(pack(type, (value,)), "little")
            return f"0x{'H' if isinstance(type, Float16Type) else 'R'}{bits:04X}"
        case _:
            raise PasslineError(f"the type {type} is none of LLVM's")
