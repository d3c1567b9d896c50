"""The runtime of libraries for GPUs, as LLVM IR: CUDA's driver, called by host functions.

The first call loads the kernels. Constants are uploaded when they are first used. Each thread has
its stream, on which memory is allocated, too. The state of a call is two words: the first error of
the driver, after which nothing more is done, and the list of allocations, each of which is two
words on the heap: the next one, and the address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ...dialects.target import Target, host
from ..native.codegen import Body, Data
from ..native.preparation.preparation import Prepared, prepare
from .assemble import assemble
from .library_host import split_library
from .program import entry_kinds

if TYPE_CHECKING:
    from ..interpreters.arrays import Array

__all__ = ["prepare_library"]

CUBIN = "gpu.cubin"
UNSUITABLE = (200, 209, 222)
"""The errors of the driver for code that does not run on a device."""


def prepare_library(
    module: ModuleOp, entry: str, target: Target, threads: int
) -> tuple[Prepared, str, Mapping[str, Array]]:
    """Prepare the host functions of a lowered module for this machine, and assemble its kernels for
    the GPU `target`. Return also the LLVM IR of the runtime, and the data that it refers to.

    PasslineError for what a library cannot do, and for a tool that is missing.
    """
    split = split_library(module, entry)
    cubin = np.frombuffer(assemble(split.kernels, target), np.uint8)
    kernels = [*entry_kinds(split.kernels)]
    prepared = prepare(split.module, entry, host(), threads)
    return prepared, runtime_ir(kernels, split.constants, target.cpu), {CUBIN: cubin}


def runtime_ir(kernels: Sequence[str], constants: int, target: str) -> str:
    """Return the runtime for kernels, which are called by their numbers, and whose code has the
    symbol `CUBIN`."""
    data = Data("gpu.data")
    text = f"its GPU or driver does not run kernels for {target}: expected driver 580 or newer"
    wrong = " ".join(f"i32 {code}, label %unsuitable" for code in UNSUITABLE)
    parts = [
        f"@gpu.kernels = internal global [{len(kernels)} x ptr] zeroinitializer",
        f"@gpu.constants = internal global [{max(1, constants)} x i64] zeroinitializer",
        *_start(kernels, data),
        RUNTIME.replace("WRONG", wrong).replace("UNSUITABLE", data.string(text)),
        *data.lines,
    ]
    return "\n".join([*parts, ""])


def _start(kernels: Sequence[str], data: Data) -> list[str]:
    """Return the function that loads the kernels: the error of the first call that fails."""
    body = Body()
    device, module = body.value("alloca i32"), body.value("alloca ptr")

    def attempt(call: str) -> None:
        code = body.value(f"call i32 {call}")
        failed, succeeded = body.unless(body.value(f"icmp eq i32 {code}, 0"))
        body.block(failed)
        body.add(f"ret i32 {code}")
        body.block(succeeded)

    attempt("@cuInit(i32 0)")
    attempt(f"@cuDeviceGet(ptr {device}, i32 0)")
    number = body.value(f"load i32, ptr {device}")
    attempt(f"@cuDevicePrimaryCtxRetain(ptr @gpu.context, i32 {number})")
    attempt(f"@cuCtxSetCurrent(ptr {body.value('load ptr, ptr @gpu.context')})")
    attempt(f"@cuModuleLoadData(ptr {module}, ptr @gpu.cubin)")
    loaded = body.value(f"load ptr, ptr {module}")
    for i, name in enumerate(kernels):
        place = body.word("@gpu.kernels", i)
        attempt(f"@cuModuleGetFunction(ptr {place}, ptr {loaded}, ptr {data.string(name)})")
    body.add("ret i32 0")
    return ["define internal i32 @gpu.start() {", *body.lines, "}"]


RUNTIME = """\
declare i32 @cuInit(i32)
declare i32 @cuDeviceGet(ptr, i32)
declare i32 @cuDevicePrimaryCtxRetain(ptr, i32)
declare i32 @cuCtxSetCurrent(ptr)
declare i32 @cuModuleLoadData(ptr, ptr)
declare i32 @cuModuleGetFunction(ptr, ptr, ptr)
declare i32 @cuLaunchKernel(ptr, i32, i32, i32, i32, i32, i32, i32, ptr, ptr, ptr)
declare i32 @cuMemAlloc_v2(ptr, i64)
declare i32 @cuMemFree_v2(i64)
declare i32 @cuMemAllocAsync(ptr, i64, ptr)
declare i32 @cuMemFreeAsync(i64, ptr)
declare i32 @cuMemcpyHtoD_v2(i64, ptr, i64)
declare i32 @cuMemcpyAsync(i64, i64, i64, ptr)
declare i32 @cuStreamSynchronize(ptr)
declare i32 @cuGetErrorString(i32, ptr)
declare ptr @malloc(i64)
declare i64 @llvm.umax.i64(i64, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

@gpu.context = internal global ptr null
@gpu.state = internal global i32 0
@gpu.error = internal global i32 0

define internal void @gpu.begin(ptr %call) {
  store [2 x i64] zeroinitializer, ptr %call
  %pair = cmpxchg ptr @gpu.state, i32 0, i32 1 acq_rel acquire
  %first = extractvalue { i32, i1 } %pair, 1
  br i1 %first, label %start, label %wait
start:
  %failure = call i32 @gpu.start()
  store i32 %failure, ptr @gpu.error
  store atomic i32 2, ptr @gpu.state release, align 4
  br label %wait
wait:
  %state = load atomic i32, ptr @gpu.state acquire, align 4
  %started = icmp eq i32 %state, 2
  br i1 %started, label %enter, label %wait
enter:
  %error = load i32, ptr @gpu.error
  call void @gpu.note(ptr %call, i32 %error)
  %context = load ptr, ptr @gpu.context
  %code = call i32 @cuCtxSetCurrent(ptr %context)
  call void @gpu.note(ptr %call, i32 %code)
  ret void
}
define internal void @gpu.note(ptr %call, i32 %code) {
  %old = load i32, ptr %call
  %none = icmp eq i32 %old, 0
  %new = select i1 %none, i32 %code, i32 %old
  store i32 %new, ptr %call
  ret void
}
define internal i1 @gpu.failed(i64 %state) {
  %call = inttoptr i64 %state to ptr
  %error = load i32, ptr %call
  %failed = icmp ne i32 %error, 0
  ret i1 %failed
}
define hidden { ptr, i64 } @gpu.alloc(i64 %state, i64 %size) {
  %call = inttoptr i64 %state to ptr
  %block = call ptr @malloc(i64 16)
  %place = getelementptr i64, ptr %block, i64 1
  store i64 0, ptr %place
  %some = call i64 @llvm.umax.i64(i64 %size, i64 1)
  %code = call i32 @cuMemAllocAsync(ptr %place, i64 %some, ptr inttoptr (i64 2 to ptr))
  call void @gpu.note(ptr %call, i32 %code)
  %list = getelementptr i64, ptr %call, i64 1
  %next = load ptr, ptr %list
  store ptr %next, ptr %block
  store ptr %block, ptr %list
  %address = load ptr, ptr %place
  %1 = insertvalue { ptr, i64 } poison, ptr %address, 0
  %2 = insertvalue { ptr, i64 } %1, i64 %size, 1
  ret { ptr, i64 } %2
}
define hidden void @gpu.free(i64 %state, i64 %address) {
  %call = inttoptr i64 %state to ptr
  %list = getelementptr i64, ptr %call, i64 1
  br label %search
search:
  %link = phi ptr [ %list, %0 ], [ %block, %next ]
  %block = load ptr, ptr %link
  %ended = icmp eq ptr %block, null
  br i1 %ended, label %done, label %look
look:
  %place = getelementptr i64, ptr %block, i64 1
  %here = load i64, ptr %place
  %found = icmp eq i64 %here, %address
  br i1 %found, label %take, label %next
next:
  br label %search
take:
  %rest = load ptr, ptr %block
  store ptr %rest, ptr %link
  %code = call i32 @cuMemFreeAsync(i64 %address, ptr inttoptr (i64 2 to ptr))
  call void @free(ptr %block)
  br label %done
done:
  ret void
}
define hidden { ptr, i64 } @gpu.constant(i64 %state, i64 %number, i64 %from, i64 %size) {
  %call = inttoptr i64 %state to ptr
  %new = alloca i64
  store i64 0, ptr %new
  %place = getelementptr i64, ptr @gpu.constants, i64 %number
  %known = load atomic i64, ptr %place acquire, align 8
  %is.known = icmp ne i64 %known, 0
  br i1 %is.known, label %done, label %upload
upload:
  %some = call i64 @llvm.umax.i64(i64 %size, i64 1)
  %code = call i32 @cuMemAlloc_v2(ptr %new, i64 %some)
  call void @gpu.note(ptr %call, i32 %code)
  %made = load i64, ptr %new
  %source = inttoptr i64 %from to ptr
  %copied = call i32 @cuMemcpyHtoD_v2(i64 %made, ptr %source, i64 %size)
  call void @gpu.note(ptr %call, i32 %copied)
  %pair = cmpxchg ptr %place, i64 0, i64 %made acq_rel acquire
  %won = extractvalue { i64, i1 } %pair, 1
  %other = extractvalue { i64, i1 } %pair, 0
  br i1 %won, label %done, label %lost
lost:
  %freed = call i32 @cuMemFree_v2(i64 %made)
  br label %done
done:
  %address = phi i64 [ %known, %0 ], [ %made, %upload ], [ %other, %lost ]
  %pointer = inttoptr i64 %address to ptr
  %1 = insertvalue { ptr, i64 } poison, ptr %pointer, 0
  %2 = insertvalue { ptr, i64 } %1, i64 %size, 1
  ret { ptr, i64 } %2
}
define hidden void @gpu.copy(i64 %state, i64 %to, i64 %from, i64 %size) {
  %call = inttoptr i64 %state to ptr
  %failed = call i1 @gpu.failed(i64 %state)
  %empty = icmp eq i64 %size, 0
  %skipped = or i1 %failed, %empty
  br i1 %skipped, label %done, label %copy
copy:
  %code = call i32 @cuMemcpyAsync(i64 %to, i64 %from, i64 %size, ptr inttoptr (i64 2 to ptr))
  call void @gpu.note(ptr %call, i32 %code)
  br label %done
done:
  ret void
}
define hidden void @gpu.read(i64 %state, i64 %to, i64 %from, i64 %size) {
  %call = inttoptr i64 %state to ptr
  call void @gpu.copy(i64 %state, i64 %to, i64 %from, i64 %size)
  %code = call i32 @cuStreamSynchronize(ptr inttoptr (i64 2 to ptr))
  call void @gpu.note(ptr %call, i32 %code)
  %failed = call i1 @gpu.failed(i64 %state)
  br i1 %failed, label %clear, label %done
clear:
  %target = inttoptr i64 %to to ptr
  call void @llvm.memset.p0.i64(ptr %target, i8 0, i64 %size, i1 false)
  br label %done
done:
  ret void
}
define hidden void @gpu.launch(i64 %state, i64 %kernel, i64 %x, i64 %y, i64 %z, i64 %given) {
  %call = inttoptr i64 %state to ptr
  %failed = call i1 @gpu.failed(i64 %state)
  %plane = mul i64 %x, %y
  %blocks = mul i64 %plane, %z
  %empty = icmp eq i64 %blocks, 0
  %skipped = or i1 %failed, %empty
  br i1 %skipped, label %done, label %launch
launch:
  %place = getelementptr ptr, ptr @gpu.kernels, i64 %kernel
  %function = load ptr, ptr %place
  %x32 = trunc i64 %x to i32
  %y32 = trunc i64 %y to i32
  %z32 = trunc i64 %z to i32
  %parameters = inttoptr i64 %given to ptr
  %code = call i32 @cuLaunchKernel(ptr %function, i32 %x32, i32 %y32, i32 %z32, i32 1, i32 1, i32 1,
    i32 0, ptr inttoptr (i64 2 to ptr), ptr %parameters, ptr null)
  call void @gpu.note(ptr %call, i32 %code)
  br label %done
done:
  ret void
}
define internal ptr @gpu.end(ptr %call) {
  %state = ptrtoint ptr %call to i64
  %text = alloca ptr
  %list = getelementptr i64, ptr %call, i64 1
  br label %release
release:
  %block = load ptr, ptr %list
  %ended = icmp eq ptr %block, null
  br i1 %ended, label %wait, label %free
free:
  %place = getelementptr i64, ptr %block, i64 1
  %address = load i64, ptr %place
  call void @gpu.free(i64 %state, i64 %address)
  br label %release
wait:
  %code = call i32 @cuStreamSynchronize(ptr inttoptr (i64 2 to ptr))
  call void @gpu.note(ptr %call, i32 %code)
  %error = load i32, ptr %call
  switch i32 %error, label %failed [ i32 0, label %done WRONG ]
failed:
  store ptr null, ptr %text
  %said = call i32 @cuGetErrorString(i32 %error, ptr %text)
  %known = load ptr, ptr %text
  br label %done
unsuitable:
  br label %done
done:
  %message = phi ptr [ null, %wait ], [ %known, %failed ], [ UNSUITABLE, %unsuitable ]
  ret ptr %message
}
"""
