"""The entry of a compiled function: a builtin function of Python, in machine code.

It takes the address of the words of a call (`words.py`) and, for each parameter, an array in the
form of numpy's array interface in C. It checks the arrays, and calls the function without the lock
of the interpreter: in Python, each of these steps would take as long as a small model.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX

from ...dialects.tir.ops import output_count
from ...passes.llvm.types import lowered_type
from ...passmanager.output.status import PASSIVE_THREADS
from ..interpreters.signature import Function
from .codegen import Body, Data, all_sizes, declaration, quoted
from .jit import LoadedFunction
from .llvm_printer import ModuleWriter
from .parameters import FREE, STACK_ALIGNMENT, CallWords, NumberParameter, Parameter, parameters_of

ENTRY = "passline.entry"
"""The symbol of the entry."""
DONE, REFUSED, FAILED = range(3)
"""The results of the entry: REFUSED if an array does not fit, FAILED if an assertion fails."""

INTERFACE = "{ i32, i32, i8, i32, i32, ptr }"
"""The start of numpy's `PyArrayInterface`: version, rank, kind, item size, flags, sizes."""
SIZES, DATA = 3, 5
"""The words of a `PyArrayInterface` with the pointers to the sizes and to the elements."""
CONTIGUOUS, ALIGNED, NATIVE, WRITEABLE = 0x1, 0x100, 0x200, 0x400
"""Flags of an array: contiguous in row-major order, aligned, native byte order, writeable."""

PYTHON = """\
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyLong_FromLong(i64)
declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
"""
"""The functions of Python that the entry calls, all in its limited API: all versions have them."""

FITS = f"""\
define internal i1 @fits(ptr %array, i64 %rank, i8 %kind, i32 %bytes, i32 %flags, ptr %sizes) {{
start:
  %given = load {INTERFACE}, ptr %array
  %dimensions = extractvalue {INTERFACE} %given, 1
  %given.rank = sext i32 %dimensions to i64
  %given.kind = extractvalue {INTERFACE} %given, 2
  %given.bytes = extractvalue {INTERFACE} %given, 3
  %given.flags = extractvalue {INTERFACE} %given, 4
  %given.sizes = extractvalue {INTERFACE} %given, 5
  %needed.flags = and i32 %given.flags, %flags
  %has.rank = icmp eq i64 %given.rank, %rank
  %has.kind = icmp eq i8 %given.kind, %kind
  %has.bytes = icmp eq i32 %given.bytes, %bytes
  %has.flags = icmp eq i32 %needed.flags, %flags
  %has.type = and i1 %has.kind, %has.bytes
  %is.plain = and i1 %has.rank, %has.flags
  %is.same = and i1 %has.type, %is.plain
  br i1 %is.same, label %axes, label %refused
axes:
  %axis = phi i64 [ 0, %start ], [ %next, %compare ]
  %fits = phi i1 [ true, %start ], [ %is.size, %compare ]
  %is.axis = icmp slt i64 %axis, %rank
  %goes.on = and i1 %is.axis, %fits
  br i1 %goes.on, label %compare, label %end
compare:
  %size.place = getelementptr i64, ptr %sizes, i64 %axis
  %size = load i64, ptr %size.place
  %given.place = getelementptr i64, ptr %given.sizes, i64 %axis
  %given.size = load i64, ptr %given.place
  %is.any = icmp eq i64 %size, {DYNAMIC_INDEX}
  %is.equal = icmp eq i64 %size, %given.size
  %is.size = or i1 %is.any, %is.equal
  %next = add i64 %axis, 1
  br label %axes
end:
  ret i1 %fits
refused:
  ret i1 false
}}
"""
"""The function that compares an array with a parameter: element type, sizes and flags."""

TAKE = f"""\
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
  %more = add i64 %stop, {STACK_ALIGNMENT - 1}
  %next = and i64 %more, -{STACK_ALIGNMENT}
  store i64 %next, ptr %counter
  ret void
keep:
  store ptr %data, ptr %memory
  ret void
}}
"""
"""The function that moves a result of `size` bytes to the room of the words of a call, and writes
its offset to them; of a result that does not fit, the address."""


def entry_ir(function: Function, callee: str, *, has_status: bool) -> str:
    """Return the LLVM IR of the entry of a function, which calls the symbol `callee`; with
    `has_status`, the last argument is the status of the call."""
    layout, body, data = CallWords(function), Body(), Data()
    parameters = parameters_of(function)
    require(body, body.value(f"icmp eq i64 %count, {1 + len(parameters)}"))
    words = body.value(f"call ptr @PyLong_AsVoidPtr(ptr {body.load('ptr', '%arguments', 0)})")
    inputs = parameters[: len(parameters) - output_count(function)]
    passed = read_arrays(body, data, parameters, inputs, returns=bool(layout.buffers))
    passed += [f"ptr {words}"] * has_status
    unknown = [buffer.shape.count(DYNAMIC_INDEX) for buffer in layout.buffers]
    thread = body.value("call ptr @PyEval_SaveThread()")
    results = body.call(callee, passed, unknown)
    if has_status:
        return_failure(body, words, results, thread)
    take_results(body, words, results, layout)
    return_from(body, DONE, thread)
    body.block("refused")
    return_from(body, REFUSED)
    head = f"define ptr {quoted(ENTRY)}(ptr %self, ptr %arguments, i64 %count) {{"
    callees = PYTHON, FITS, TAKE, declaration(callee, passed, unknown)
    return "\n".join([*callees, head, *body.lines, "}", *data.lines, ""])


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
    body: Body,
    data: Data,
    parameters: Sequence[Parameter],
    inputs: Sequence[Parameter],
    *,
    returns: bool,
) -> list[str]:
    """Check the arrays of `inputs`, the first parameters, and return the arguments of the function,
    each after its type. A function that neither `returns` buffers nor has outputs writes to its
    arrays."""
    is_changed = len(inputs) == len(parameters) and not returns
    capsules = [body.load("ptr", "%arguments", 1 + i) for i in range(len(parameters))]
    arrays = [body.value(f"call ptr @PyCapsule_GetPointer(ptr {c}, ptr null)") for c in capsules]
    for array, parameter in zip(arrays, inputs):
        check_array(body, array, parameter, data, is_changed=is_changed)
    pairs = zip(arrays, parameters, strict=True)
    return [text for array, each in pairs for text in arguments(body, array, each)]


def check_array(
    body: Body, array: str, parameter: Parameter, data: Data, *, is_changed: bool
) -> None:
    """Refuse an array that machine code cannot read, or write to if it `is_changed`, as it is."""
    dtype, flags = parameter.stored, CONTIGUOUS | ALIGNED | NATIVE
    if is_changed and not isinstance(parameter, NumberParameter):
        flags |= WRITEABLE
    expected = f"i64 {len(parameter.shape)}, i8 {ord(dtype.kind)}, i32 {dtype.itemsize}"
    sizes = data.table("i64", map(str, parameter.shape))
    passed = f"ptr {array}, {expected}, i32 {flags}, ptr {sizes}"
    require(body, body.value(f"call i1 @fits({passed})"))


def arguments(body: Body, array: str, parameter: Parameter) -> list[str]:
    """Return the arguments, each after its type, that stand for a parameter."""
    data = body.load("ptr", array, DATA)
    if isinstance(parameter, NumberParameter):
        type = ModuleWriter().type(lowered_type(parameter.type))
        if type == "i1":  # it takes a byte
            byte = body.value(f"load i8, ptr {data}")
            return [f"i1 {body.value(f'trunc i8 {byte} to i1')}"]
        return [f"{type} {body.value(f'load {type}, ptr {data}')}"]
    axes = [axis for axis, size in enumerate(parameter.shape) if size == DYNAMIC_INDEX]
    sizes = body.load("ptr", array, SIZES) if axes else ""
    return [f"ptr {data}", *(f"i64 {body.load('i64', sizes, axis)}" for axis in axes)]


# Results


def return_failure(body: Body, words: str, results: Sequence[Sequence[str]], thread: str) -> None:
    """Return from the entry if an assertion has failed; free the results, which exist even so."""
    status = body.load("i64", words, 0)
    failed, succeeded = body.unless(body.value(f"icmp eq i64 {status}, 0"))
    body.block(failed)
    for memory, *_ in results:
        body.add(f"call void @free(ptr {memory})")
    return_from(body, FAILED, thread)
    body.block(succeeded)


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


def builtin_function(code: LoadedFunction) -> Callable[..., int]:
    """Return a builtin function of Python that runs machine code, and keeps it in memory."""
    import numpy as np

    method = Method(b"entry", code.address, FASTCALL, None)
    types = ctypes.c_void_p, ctypes.py_object, ctypes.py_object
    new = ctypes.PYFUNCTYPE(ctypes.py_object, *types)(("PyCFunction_NewEx", ctypes.pythonapi))
    # The second argument is the object that a method belongs to, which lives as long. The collector
    # of garbage does not look into an array: it frees the code of a function in a cycle only after
    # the finalizers of the cycle, which may call it.
    (keeps := np.empty((), object))[()] = (method, code)
    return cast("Callable[..., int]", new(ctypes.addressof(method), keeps, None))


# The function in machine code that allocates its memory: in huge pages, if it is large.


ALLOCATE = "aligned_alloc"
"""The symbol that machine code calls, otherwise that of the C library."""
LARGE = 1 << 25
"""The bytes from which glibc asks the system for memory each time: its pages of 4 KB take long at
their first use."""
HUGE_PAGE = 1 << 21
MADV_HUGEPAGE = 14

ALLOCATION_IR = f"""\
declare i32 @posix_memalign(ptr, i64, i64)
declare i32 @madvise(ptr, i64, i32)
define ptr @{ALLOCATE}(i64 %least, i64 %size) {{
start:
  %place = alloca ptr
  store ptr null, ptr %place
  %is.large = icmp uge i64 %size, {LARGE}
  %alignment = select i1 %is.large, i64 {HUGE_PAGE}, i64 %least
  %status = call i32 @posix_memalign(ptr %place, i64 %alignment, i64 %size)
  %memory = load ptr, ptr %place
  %is.there = icmp ne ptr %memory, null
  %is.advised = and i1 %is.large, %is.there
  br i1 %is.advised, label %advise, label %end
advise:
  %ignored = call i32 @madvise(ptr %memory, i64 %size, i32 {MADV_HUGEPAGE})
  br label %end
end:
  ret ptr %memory
}}
"""
"""The LLVM IR of the function."""
if sys.platform != "linux":  # machine code calls the function of the C library
    ALLOCATION_IR = ""


# Ctrl-C during machine code: a thread that waits for the signal stops the run.
#
# Python handles signals between its own instructions, so not while machine code runs. The
# operating system tells of a signal at once, though, through the wake-up file of the module
# `signal`.


THREAD = "passline-interruption"
"""The name of the thread that waits for signals."""
PASSIVE_THREADS.add(THREAD)


class interruptible:
    """Call `stop` from another thread if the user interrupts this block; `KeyboardInterrupt` is
    then raised when the block ends.

    This holds in the main thread, which alone gets signals, unless the program handles SIGINT by
    itself. The block takes two microseconds longer.
    """

    __slots__ = ("_stop", "_watcher")

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._watcher: Watcher | None = None

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._watcher = watcher(os.getpid())
            self._watcher.watch(self._stop)

    def __exit__(self, *_: object) -> None:
        if self._watcher is not None:
            self._watcher.end()


@cache
def watcher(process: int) -> Watcher:
    """Return the watcher of a process: a forked one has none of the threads of its parent."""
    return Watcher()


class Watcher:
    """A thread that waits for signals."""

    def __init__(self) -> None:
        self._stop: Callable[[], None] | None = None
        self._previous = -1
        """The wake-up file of the program, which gets the signals, too."""
        self._lock = threading.Lock()
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        threading.Thread(target=self._watch, name=THREAD, daemon=True).start()

    def watch(self, stop: Callable[[], None]) -> None:
        """Call `stop` at a SIGINT from now on."""
        self._previous = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._stop = stop

    def end(self) -> None:
        """Leave signals to the program again."""
        signal.set_wakeup_fd(self._previous)
        with self._lock:
            self._stop = None

    def _watch(self) -> None:
        while numbers := self._reader.recv(64):
            # False if the program has a handler of its own.
            is_raised = signal.getsignal(signal.SIGINT) is signal.default_int_handler
            with self._lock:
                if self._stop is not None and signal.SIGINT in numbers and is_raised:
                    self._stop()
            if self._previous >= 0:
                with suppress(OSError):
                    os.write(self._previous, numbers)
