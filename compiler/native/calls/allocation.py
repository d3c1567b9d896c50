"""The function in machine code that allocates its memory: in huge pages, if it is large."""

from __future__ import annotations

import sys

__all__ = ["ALLOCATE", "ALLOCATION_IR", "HUGE_PAGE", "LARGE"]

ALLOCATE = "aligned_alloc"
"""The symbol that machine code calls, otherwise that of the C library."""
LARGE = 1 << 25
"""The bytes from which glibc asks the system each time, whose new 4 KB pages are slow."""
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
