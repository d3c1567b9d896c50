"""The entry of a compiled function: a builtin function of Python, in machine code.

It takes the address of the words of a call (`words.py`) and, for each parameter, an array in the
form of numpy's array interface in C. It checks the arrays, and calls the function without the lock
of the interpreter: in Python, each of these steps would take as long as a small model.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX

from ....dialects.tir.ops import output_count
from ....interpreters.signature import Function
from ....passes.llvm.types import lowered_type
from ..jit import Code
from ..llvm_ir import ModuleWriter
from ..llvm_text import Body, all_sizes, declaration, quoted
from .parameters import Number, Parameter, parameters_of
from .words import ALIGNMENT, FREE, CallWords

__all__ = ["ENTRY", "FAILED", "REFUSED", "builtin_function", "entry_ir"]

ENTRY = "passline.entry"
"""The symbol of the entry."""
DONE, REFUSED, FAILED = range(3)
"""What the entry returns: REFUSED if an array does not fit, FAILED if an assertion does not
hold."""

RANK, KIND, ITEMSIZE, FLAGS, SHAPE, DATA = 4, 8, 12, 16, 24, 40
"""The offsets of the fields of numpy's `PyArrayInterface`."""
CONTIGUOUS, ALIGNED, NATIVE, WRITEABLE = 0x1, 0x100, 0x200, 0x400
"""Flags of an array. Its elements are in row-major order, aligned, in the byte order of the
machine."""

DECLARATIONS = f"""\
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyLong_FromLong(i64)
declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @free(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal void @take(ptr %words, i64 %place, ptr %data, i64 %size, i64 %end) {{
  %counter = getelementptr i64, ptr %words, i64 {FREE}
  %memory = getelementptr i64, ptr %words, i64 %place
  %offset = getelementptr i64, ptr %memory, i64 1
  %start = load i64, ptr %counter
  %stop = add i64 %start, %size
  %fits = icmp ule i64 %stop, %end
  br i1 %fits, label %copy, label %keep
copy:
  %target = getelementptr i8, ptr %words, i64 %start
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %data, i64 %size, i1 false)
  call void @free(ptr %data)
  store i64 %start, ptr %offset
  %more = add i64 %stop, {ALIGNMENT - 1}
  %next = and i64 %more, -{ALIGNMENT}
  store i64 %next, ptr %counter
  ret void
keep:
  store ptr %data, ptr %memory
  ret void
}}
"""
"""The functions that the entry calls: those of Python are in its limited API, which all versions
have. `take` writes where a result of `size` bytes is, which it moves to the room if it fits."""


def entry_ir(function: Function, callee: str, *, has_status: bool) -> str:
    """Return the LLVM IR of the entry of a function, which calls the symbol `callee`; with
    `has_status`, the last argument is the status of the call."""
    parameters, layout = parameters_of(function), CallWords(function)
    body = Body()
    require(body, body.value(f"icmp eq i64 %count, {1 + len(parameters)}"))
    words = body.value(f"call ptr @PyLong_AsVoidPtr(ptr {body.load('ptr', '%arguments', 0)})")
    passed = read_arrays(body, parameters, len(parameters) - output_count(function), layout)
    passed += [f"ptr {words}"] * has_status
    unknown = [buffer.shape.count(DYNAMIC_INDEX) for buffer in layout.buffers]
    thread = body.value("call ptr @PyEval_SaveThread()")
    results = body.call(callee, passed, unknown)
    if has_status:
        status = body.load("i64", words, 0)
        failed, succeeded = body.unless(body.value(f"icmp eq i64 {status}, 0"))
        body.block(failed)
        for data, *_ in results:
            body.add(f"call void @free(ptr {data})")
        return_from(body, FAILED, thread)
        body.block(succeeded)
    take_results(body, words, results, layout)
    return_from(body, DONE, thread)
    body.block("refused")
    return_from(body, REFUSED)
    return "\n".join(
        [
            DECLARATIONS,
            declaration(callee, passed, unknown),
            f"define ptr {quoted(ENTRY)}(ptr %self, ptr %arguments, i64 %count) {{",
            *body.lines,
            "}\n",
        ]
    )


def require(body: Body, condition: str) -> None:
    """Refuse the arrays unless `condition` holds."""
    body.add(f"br i1 {condition}, label %{(met := body.new())}, label %refused")
    body.block(met)


def return_from(body: Body, code: int, thread: str = "") -> None:
    """Return a code from the entry, with the lock of the interpreter if `thread` was without it."""
    if thread:
        body.add(f"call void @PyEval_RestoreThread(ptr {thread})")
    body.add(f"ret ptr {body.value(f'call ptr @PyLong_FromLong(i64 {code})')}")


# Arrays


def read_arrays(
    body: Body, parameters: Sequence[Parameter], inputs: int, layout: CallWords
) -> list[str]:
    """Check the arrays of the first `inputs` parameters, and return the arguments of the function,
    each after its type."""
    is_changed = inputs == len(parameters) and not layout.buffers
    passed: list[str] = []
    for i, parameter in enumerate(parameters):
        capsule = body.load("ptr", "%arguments", 1 + i)
        array = body.value(f"call ptr @PyCapsule_GetPointer(ptr {capsule}, ptr null)")
        if i < inputs:
            check_array(body, array, parameter, is_changed=is_changed)
        data = field(body, array, DATA, "ptr")
        if isinstance(parameter, Number):
            passed.append(number(body, data, ModuleWriter().type(lowered_type(parameter.type))))
            continue
        axes = [axis for axis, size in enumerate(parameter.shape) if size == DYNAMIC_INDEX]
        passed += [f"ptr {data}", *(f"i64 {size_of(body, array, axis)}" for axis in axes)]
    return passed


def check_array(body: Body, array: str, parameter: Parameter, *, is_changed: bool) -> None:
    """Refuse an array that is not as machine code reads the parameter."""
    dtype, needed = parameter.stored, CONTIGUOUS | ALIGNED | NATIVE
    if is_changed and not isinstance(parameter, Number):
        needed |= WRITEABLE
    flags = body.value(f"and i32 {field(body, array, FLAGS, 'i32')}, {needed}")
    for type, given, expected in (
        ("i32", field(body, array, RANK, "i32"), len(parameter.shape)),
        ("i8", field(body, array, KIND, "i8"), ord(dtype.kind)),
        ("i32", field(body, array, ITEMSIZE, "i32"), dtype.itemsize),
        ("i32", flags, needed),
    ):
        require(body, body.value(f"icmp eq {type} {given}, {expected}"))
    for axis, size in enumerate(parameter.shape):
        if size != DYNAMIC_INDEX:
            require(body, body.value(f"icmp eq i64 {size_of(body, array, axis)}, {size}"))


def field(body: Body, array: str, offset: int, type: str) -> str:
    """Return a field of an array interface."""
    place = body.value(f"getelementptr i8, ptr {array}, i64 {offset}")
    return body.value(f"load {type}, ptr {place}")


def size_of(body: Body, array: str, axis: int) -> str:
    """Return a size of an array."""
    return body.load("i64", field(body, array, SHAPE, "ptr"), axis)


def number(body: Body, data: str, type: str) -> str:
    """Return a number in memory, after its type; an i1 takes a byte."""
    if type != "i1":
        return f"{type} {body.value(f'load {type}, ptr {data}')}"
    byte = body.value(f"load i8, ptr {data}")
    return f"i1 {body.value(f'trunc i8 {byte} to i1')}"


# Results


def take_results(
    body: Body, words: str, results: Sequence[Sequence[str]], layout: CallWords
) -> None:
    """Write to the words of the call where the results are, and their sizes."""
    if results:
        body.store("i64", layout.room, words, FREE)
    for buffer, place, (data, *unknown) in zip(layout.buffers, layout.places, results, strict=True):
        total: str | int = buffer.stored.itemsize
        for axis, size in enumerate(all_sizes(buffer.shape, unknown)):
            body.store("i64", size, words, place + 2 + axis)
            total = body.value(f"mul i64 {total}, {size}")
        passed = f"ptr {words}, i64 {place}, ptr {data}, i64 {total}, i64 {layout.end}"
        body.add(f"call void @take({passed})")


# Python


class Method(ctypes.Structure):
    """The `PyMethodDef` of a builtin function."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


FASTCALL = 0x80
"""The flag of functions that take an array of arguments."""


def builtin_function(code: Code) -> Callable[..., int]:
    """Return the function of Python that machine code is, which keeps the code."""
    method = Method(b"entry", code.address, FASTCALL, None)
    types = ctypes.c_void_p, ctypes.py_object, ctypes.py_object
    new = ctypes.PYFUNCTYPE(ctypes.py_object, *types)(("PyCFunction_NewEx", ctypes.pythonapi))
    # The second argument is the object that a method belongs to, which lives as long.
    return cast("Callable[..., int]", new(ctypes.addressof(method), (method, code), None))
