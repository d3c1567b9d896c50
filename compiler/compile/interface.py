"""The C interface of a library, as LLVM IR: the function for callers in C, and the description of
the library, by which a loader finds it.

The types and the rules of the interface are in `header.py`, for readers of C; `runtime.py` has
them once more. A change of the structs changes `INTERFACE`, which all three know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, FileLineColLoc

from ...dialects.target import Target
from ...passmanager.ir.location import place_text
from ..native.llvm_text import Body, Data, all_sizes, declaration, quoted, struct
from ..native.preparation.assertions import STATUS_WORDS, Failures
from .dimensions import check_names, check_sizes
from .signature import Signature, TensorParameter, identifier

__all__ = ["INTERFACE", "LOADER_SYMBOL", "Interface", "interface_ir", "library_symbol"]

INTERFACE = 1
"""The version of the interface, the first word of the description."""
LOADER_SYMBOL = "passline_this_library"
"""The variable by which a loader finds the description of a library."""

FAILED, BAD_ARGUMENT = 1, 2
"""The return values for a failed assertion of the model, and for a size that does not fit."""

TENSOR = "{ ptr, ptr, i64, ptr, ptr, i64 }"
"""The type of a tensor in the description: name, type, rank, shape, dimensions, flags."""
FUNCTION = "{ ptr, ptr, i64, ptr, i64, ptr, ptr }"
"""That of a function: name, symbol, inputs, results, the address of the uniform function."""
LIBRARY = "{ i64, ptr, ptr, ptr, ptr, ptr, i64, ptr }"
"""That of a library: interface, name, compiler, triple, cpu, features, functions."""
IS_NUMBER, IS_ALLOCATED, IS_CHANGED = 1, 2, 4
"""The flags of a tensor."""
DATA, SHAPE, MEMORY = range(3)
"""The words of a `passline_array`."""
SCALARS = {"f32": "float", "f64": "double", "index": "i64"}
"""The types of LLVM of numbers other than integers of a given width."""


@dataclass(frozen=True)
class Interface:
    """The names and types that the C interface of a library consists of."""

    name: str
    """The name of the library: its symbols begin with it."""
    signature: Signature
    entry: str
    """The symbol of the function that is called."""
    failures: Failures
    target: Target
    compiler: str
    """The name and the version of the compiler."""

    @property
    def symbol(self) -> str:
        """The symbol of the function for callers in C."""
        return f"{self.name}_{identifier(self.signature.name)}"

    @property
    def exported(self) -> tuple[str, ...]:
        """The symbols that others see."""
        return self.symbol, library_symbol(self.name), LOADER_SYMBOL


def library_symbol(name: str) -> str:
    """Return the symbol of the description of a library."""
    return f"{name}_library"


def interface_ir(interface: Interface) -> str:
    """Return the LLVM IR of an interface, which declares the function that it calls."""
    data = Data()
    parts = [
        *entry_function(interface, data),
        *(fail_function(interface.failures, data) if interface.failures else []),
        REFUSE,
        *uniform_function(interface),
        *description(interface, data),
    ]
    return "\n".join([*parts, *data.lines, ""])


# Functions


def entry_function(interface: Interface, data: Data) -> list[str]:
    """Return the function for callers in C, and the declaration of the one that it calls."""
    tensors = [*interface.signature.inputs, *interface.signature.results]
    named = [(f"%p{i}", tensor) for i, tensor in enumerate(tensors)]
    allocated = [(value, tensor) for value, tensor in named if tensor.is_allocated]
    given = [(value, tensor) for value, tensor in named if not tensor.is_allocated]
    body = Body()
    for array, _ in allocated:  # null until they have results
        body.store("ptr", "null", array, DATA)
        body.store("ptr", "null", array, MEMORY)
    check_arrays(body, [(value, tensor) for value, tensor in given if tensor.is_array], data)
    passed = [text for value, tensor in given for text in arguments(body, tensor, value)]
    unknown = [tensor.shape.count(DYNAMIC_INDEX) for _, tensor in allocated]
    status = ""
    if interface.failures:
        status = body.value(f"alloca [{STATUS_WORDS} x i64], align 16")
        body.add(f"store [{STATUS_WORDS} x i64] zeroinitializer, ptr {status}")
        passed.append(f"ptr {status}")
    results = body.call(interface.entry, passed, unknown)
    if status:
        return_failure(body, status, results)
    take_results(body, allocated, results)
    body.add("ret i32 0")
    parameters = ", ".join([*(f"{passed_type(t)} {value}" for value, t in named), "ptr %failure"])
    return [
        declaration(interface.entry, passed, unknown),
        f"define i32 {quoted(interface.symbol)}({parameters}) {{",
        *body.lines,
        "}",
    ]


def return_failure(body: Body, status: str, results: Sequence[Sequence[str]]) -> None:
    """Report an assertion that failed, free the buffers that are returned even so, and return."""
    assertion, call = body.load("i64", status, 0), body.load("i64", status, 1)
    failed, succeeded = body.unless(body.value(f"icmp eq i64 {assertion}, 0"))
    body.block(failed)
    body.add(f"call void @library.fail(ptr %failure, i64 {assertion}, i64 {call})")
    for memory, *_ in results:
        body.add(f"call void @free(ptr {memory})")
    body.add(f"ret i32 {FAILED}")
    body.block(succeeded)


def passed_type(tensor: TensorParameter) -> str:
    """Return the type of LLVM that C passes for a tensor: a number, or a pointer."""
    if not tensor.is_number:
        return "ptr"
    if tensor.type in SCALARS:
        return SCALARS[tensor.type]
    return f"i{max(8, int(tensor.type.lstrip('isu')))}"


def arguments(body: Body, tensor: TensorParameter, value: str) -> list[str]:
    """Return the arguments, each after its type, for a parameter of the interface."""
    if tensor.type == "i1" and tensor.is_number:
        return [f"i1 {body.value(f'trunc i8 {value} to i1')}"]
    if not tensor.is_array:
        return [f"{passed_type(tensor)} {value}"]
    shape, data = body.load("ptr", value, SHAPE), body.load("ptr", value, DATA)
    axes = [axis for axis, size in enumerate(tensor.shape) if size == DYNAMIC_INDEX]
    return [f"ptr {data}", *(f"i64 {body.load('i64', shape, axis)}" for axis in axes)]


def check_arrays(body: Body, arrays: Sequence[tuple[str, TensorParameter]], data: Data) -> None:
    """Return from the function if the sizes of its arrays are not those that it takes."""

    def refuse(condition: str, message: str) -> None:
        wrong, right = body.unless(condition)
        body.block(wrong)
        body.add(f"call void @library.refuse(ptr %failure, ptr {data.string(message)})")
        body.add(f"ret i32 {BAD_ARGUMENT}")
        body.block(right)

    shaped: list[tuple[TensorParameter, list[str]]] = []
    for array, tensor in arrays:
        shape = body.load("ptr", array, SHAPE)
        shaped.append((tensor, [body.load("i64", shape, i) for i in range(len(tensor.shape))]))
        check_sizes(body, *shaped[-1], refuse)
    check_names(body, shaped, refuse)


def take_results(
    body: Body, allocated: Sequence[tuple[str, TensorParameter]], results: Sequence[Sequence[str]]
) -> None:
    """Write buffers that are returned to the arrays of the caller."""
    for (array, tensor), (memory, *unknown) in zip(allocated, results, strict=True):
        body.store("ptr", memory, array, DATA)
        body.store("ptr", memory, array, MEMORY)
        shape = body.load("ptr", array, SHAPE) if tensor.shape else ""
        for axis, size in enumerate(all_sizes(tensor.shape, unknown)):
            body.store("i64", size, shape, axis)


def fail_function(failures: Failures, data: Data) -> list[str]:
    """Return the function that reports an assertion that failed, with the texts of all of them."""

    def place(location: FileLineColLoc | None) -> str:
        return "null" if location is None else data.string(place_text(location))

    rows = [
        each for text, where in failures.assertions for each in (data.string(text), place(where))
    ]
    assertions = data.table("ptr", ["null", "null", *rows])
    calls = data.table("ptr", ["null", *map(place, failures.sites)])
    body = Body()
    skip, wanted = body.unless(body.value("icmp ne ptr %failure, null"))
    body.block(skip)
    body.add("ret void")
    body.block(wanted)
    row = body.value(f"getelementptr [2 x ptr], ptr {assertions}, i64 %assertion")
    message, location = body.load("ptr", row, 0), body.load("ptr", row, 1)
    site = body.value(f"getelementptr ptr, ptr {calls}, i64 %call")
    called = body.value(f"load ptr, ptr {site}")
    is_same = body.value(f"icmp eq ptr {called}, {location}")
    elsewhere = body.value(f"select i1 {is_same}, ptr null, ptr {called}")
    for word, value in enumerate((message, location, elsewhere)):
        body.store("ptr", value, "%failure", word)
    body.add("ret void")
    parameters = "ptr %failure, i64 %assertion, i64 %call"
    return [f"define internal void @library.fail({parameters}) {{", *body.lines, "}"]


REFUSE = """\
declare void @free(ptr)
define internal void @library.refuse(ptr %failure, ptr %message) {
  %wanted = icmp ne ptr %failure, null
  br i1 %wanted, label %report, label %done
report:
  store [3 x ptr] zeroinitializer, ptr %failure
  store ptr %message, ptr %failure
  br label %done
done:
  ret void
}"""


def uniform_function(interface: Interface) -> list[str]:
    """Return the function on arrays of `passline_array`, for readers of the description."""
    signature, body, arguments = interface.signature, Body(), list[str]()
    for source, tensors in (("%inputs", signature.inputs), ("%results", signature.results)):
        for i, tensor in enumerate(tensors):
            value = body.word(source, 3 * i)
            type = passed_type(tensor)
            if not tensor.is_array:
                value = body.value(f"load ptr, ptr {value}")
            if tensor.is_number:
                value = body.value(f"load {type}, ptr {value}")
            arguments.append(f"{type} {value}")
    callee, passed = quoted(interface.symbol), ", ".join([*arguments, "ptr %failure"])
    body.add(f"ret i32 {body.value(f'call i32 {callee}({passed})')}")
    return [
        "define internal i32 @library.call(ptr %inputs, ptr %results, ptr %failure) {",
        *body.lines,
        "}",
    ]


# The description


def description(interface: Interface, data: Data) -> list[str]:
    """Return the description of the library, and the variable by which a loader finds it."""
    target, signature = interface.target, interface.signature
    inputs, results = (
        data.table(TENSOR, [tensor_row(tensor, data) for tensor in tensors])
        for tensors in (signature.inputs, signature.results)
    )
    function = struct(
        f"ptr {data.string(signature.name)}",
        f"ptr {data.string(interface.symbol)}",
        f"i64 {len(signature.inputs)}",
        f"ptr {inputs}",
        f"i64 {len(signature.results)}",
        f"ptr {results}",
        "ptr @library.call",
    )
    texts = (interface.name, interface.compiler, target.triple, target.cpu, target.features)
    library = struct(
        f"i64 {INTERFACE}",
        *(f"ptr {data.string(text)}" for text in texts),
        "i64 1",
        f"ptr {data.table(FUNCTION, [function])}",
    )
    symbol = quoted(library_symbol(interface.name))
    return [
        f"{symbol} = constant {LIBRARY} {library}",
        f"@{LOADER_SYMBOL} = weak constant ptr {symbol}",
    ]


def tensor_row(tensor: TensorParameter, data: Data) -> str:
    """Return the description of a tensor."""
    flags = IS_NUMBER * tensor.is_number + IS_ALLOCATED * tensor.is_allocated
    flags += IS_CHANGED * tensor.is_changed
    names = ["null" if name is None else data.string(name) for name in tensor.dimensions]
    return struct(
        f"ptr {data.string(tensor.name)}",
        f"ptr {data.string(tensor.type)}",
        f"i64 {len(tensor.shape)}",
        f"ptr {data.table('i64', map(str, tensor.shape))}",
        f"ptr {data.table('ptr', names)}",
        f"i64 {flags}",
    )
