"""The C interface of a library: its functions as LLVM IR, and its header."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DYNAMIC_INDEX, FileLineColLoc

from ...dialects.target import Target
from ...passmanager.ir.location import place_text
from ..native.codegen import Body, Data, all_sizes, declaration, quoted, struct
from ..native.preparation.assertions import STATUS_WORDS, Failures
from .signature import C_TYPES, Signature, TensorParameter, check_names, check_sizes, identifier

if TYPE_CHECKING:
    from ..interpreters.arrays import Array

# The C interface of a library, as LLVM IR: the function for callers in C, and the description of
# the library, by which a loader finds it.
#
# The types and the rules of the interface are in `header.py`, for readers of C; `runtime.py` has
# them once more. A change of the structs changes `INTERFACE`, which all three know.


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
class GpuRuntime:
    """What a library for a GPU has besides its host functions, which get the state of a call.

    The code has `gpu.begin`, which gets memory for the state, and `gpu.end`, which frees what the
    call allocated on the device, and returns why the call failed, or null.
    """

    ir: str
    data: Mapping[str, Array]
    """The data that the code only declares, by symbol."""

    STATE = "[2 x i64]"
    SYMBOLS = ("gpu.", "cu")
    """The starts of the names of the functions of the runtime, and of CUDA's driver."""


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
    gpu: GpuRuntime | None = None

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
        *([interface.gpu.ir] if interface.gpu is not None else []),
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
    call = ""
    if interface.gpu is not None:
        call = body.value(f"alloca {interface.gpu.STATE}")
        body.add(f"call void @gpu.begin(ptr {call})")
        passed.insert(0, f"i64 {body.value(f'ptrtoint ptr {call} to i64')}")
    results = body.call(interface.entry, passed, unknown)
    if call:
        return_device_failure(body, call, results)
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
    report = f"@library.fail(ptr %failure, i64 {assertion}, i64 {call})"
    return_unless(body, f"icmp eq i64 {assertion}, 0", report, results)


def return_device_failure(body: Body, call: str, results: Sequence[Sequence[str]]) -> None:
    """End the call on the device, and return if it failed."""
    message = body.value(f"call ptr @gpu.end(ptr {call})")
    report = f"@library.refuse(ptr %failure, ptr {message})"
    return_unless(body, f"icmp eq ptr {message}, null", report, results)


def return_unless(
    body: Body, condition: str, report: str, results: Sequence[Sequence[str]]
) -> None:
    """Unless `condition` holds, call `report`, free the buffers that are returned, and return."""
    failed, succeeded = body.unless(body.value(condition))
    body.block(failed)
    body.add(f"call void {report}")
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


# The header of a library: the declaration of its function in C, and the types of the interface.


FIRST_LINE = "/* Written by passline-compile"
"""How each header begins."""

TYPES = f"""\
#ifndef PASSLINE_INTERFACE
#define PASSLINE_INTERFACE {INTERFACE}

/* Why a function returned PASSLINE_FAILED or PASSLINE_BAD_ARGUMENT. The strings are constants of
   the library. */
typedef struct passline_failure {{
  const char *message;
  const char *location; /* file:line:column in the model, or NULL */
  const char *call;     /* the location of the innermost call around it, if it differs, or NULL */
}} passline_failure;

/* A tensor with sizes that are known at run time. */
typedef struct passline_array {{
  void *data;     /* the elements in row-major order, without gaps */
  int64_t *shape; /* the sizes, one for each dimension, in memory of the caller */
  void *memory;   /* of a result that the library allocates: what to pass to free() in the end,
                     NULL after a failure */
}} passline_array;

enum {{
  PASSLINE_OK = 0,
  PASSLINE_FAILED = 1,      /* an assertion of the model failed, as an index is out of bounds;
                               or the GPU did, if there is one */
  PASSLINE_BAD_ARGUMENT = 2 /* a size is not one that the function takes */
}};

/* What follows describes a library, for programs that learn at run time what it has. */

enum {{
  PASSLINE_NUMBER = 1,    /* a scalar, which the function in C takes by value */
  PASSLINE_ALLOCATED = 2, /* a result that the library allocates */
  PASSLINE_CHANGED = 4    /* a parameter that the function writes to */
}};

typedef struct passline_tensor {{
  const char *name;        /* the name in the model, in UTF-8 */
  const char *type;        /* f16, bf16, f32, f64, i1, i8 .. i64, ui8 .. ui64, index */
  int64_t rank;
  const int64_t *shape;    /* -1 for sizes that are not known */
  const char *const *dimensions; /* the names of the dimensions, NULL for those without one */
  int64_t flags;           /* PASSLINE_NUMBER | ... */
}} passline_tensor;

typedef struct passline_function {{
  const char *name;   /* the name in the model */
  const char *symbol; /* the name in C */
  int64_t input_count;
  const passline_tensor *inputs;
  int64_t result_count;
  const passline_tensor *results;
  /* The function with all arguments in arrays. A shape is used only for tensors with sizes that
     are not known, and for results that the library allocates. */
  int (*call)(const passline_array *inputs, passline_array *results, passline_failure *failure);
}} passline_function;

typedef struct passline_library {{
  int64_t interface; /* PASSLINE_INTERFACE of the library */
  const char *name;
  const char *compiler;
  const char *triple;   /* the machine, */
  const char *cpu;      /* the processor, */
  const char *features; /* and its features, as LLVM calls them: "+avx2,+fma" */
  int64_t function_count;
  const passline_function *functions;
}} passline_library;

#endif
"""

RULES = """\
/* Arguments are the inputs in order, then memory for the results, then memory for the reason of a
   failure (or NULL). Elements are in row-major order, without gaps, and aligned as C aligns them;
   f16 and bf16 are their bits, booleans are bytes that are 0 or 1. No argument may overlap a
   result. A function returns PASSLINE_OK (0), or why it could not compute the results, of which
   the elements are then undefined. It has no state: many threads may call it at once. */
"""


def header_text(interface: Interface) -> str:
    """Return the header of a library."""
    name, symbol, signature = interface.name, interface.symbol, interface.signature
    guard = f"PASSLINE_LIBRARY_{name}_H"
    sizes = [size_line(symbol, tensor) for tensor in (*signature.inputs, *signature.results)]
    target = interface.target
    return "\n".join(
        [
            f"{FIRST_LINE}: {comment(interface.compiler)}, for {comment(target.triple)},",
            f"   {comment(target.cpu)}. */",
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            "#include <stdint.h>",
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            TYPES,
            RULES,
            *(["", *sizes] if sizes else []),
            "",
            prototype(interface),
            "",
            f"extern const passline_library {library_symbol(name)};",
            "",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
            "#endif",
            "",
        ]
    )


def size_line(symbol: str, tensor: TensorParameter) -> str:
    """Return the `#define` of the number of elements of a tensor, with a comment on its shape; of a
    scalar, and of a tensor with sizes that are not known, the comment alone."""
    pairs = zip(tensor.shape, tensor.dimensions, strict=True)
    texts = [str(size) if size >= 0 else comment(name) if name else "?" for size, name in pairs]
    about = f"{comment(tensor.name)}: {' x '.join([*texts, tensor.type])}"
    if not tensor.is_static or tensor.is_number:
        return f"/* {about} */"
    return f"#define {symbol}_{tensor.identifier}_size {tensor.elements} /* {about} */"


def prototype(interface: Interface) -> str:
    """Return the declaration of the function for callers in C."""
    signature = interface.signature
    parameters = [
        *(parameter(tensor, is_result=False) for tensor in signature.inputs),
        *(parameter(tensor, is_result=True) for tensor in signature.results),
        "passline_failure *failure",
    ]
    return f"int {interface.symbol}(\n    " + ",\n    ".join(parameters) + "\n);"


def parameter(tensor: TensorParameter, *, is_result: bool) -> str:
    """Return the declaration of a parameter."""
    const = "" if is_result or tensor.is_changed or tensor.is_number else "const "
    if tensor.is_array:
        return f"{const}passline_array *{tensor.identifier}"
    return f"{const}{C_TYPES[tensor.type]} {'' if tensor.is_number else '*'}{tensor.identifier}"


def comment(text: str) -> str:
    """Return text for a comment: one ASCII line without `/*`, `*/` and the trigraph `??/`, which is
    a backslash."""
    shown = json.dumps(text)[1:-1]
    return shown.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/")
