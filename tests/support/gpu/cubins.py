"""A cubin without code."""

from __future__ import annotations

import struct

__all__ = ["cubin"]


def cubin() -> bytes:
    """Return an ELF file with the sections of a kernel of 40 registers, and 8 spilled bytes."""
    info = struct.pack("<BBHII", 4, 0x2F, 8, 1, 40) + struct.pack("<BBHII", 4, 0x11, 8, 1, 8)
    threads = struct.pack("<BBH", 3, 0x1B, 255) + struct.pack("<BBHIII", 4, 0x10, 12, 128, 1, 1)
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 18, 0, 1, 0, 0)
    contents = {
        "": b"",
        ".strtab": b"\0f\0",
        ".symtab": symbols,
        ".nv.info": info,
        ".nv.info.f": threads,
        ".nv.shared.f": b"",
    }
    names = b"".join(name.encode() + b"\0" for name in contents) + b".shstrtab\0"
    data, headers = bytearray(64), bytearray()
    for name, content in (contents | {".shstrtab": names}).items():
        size = 1024 if name == ".nv.shared.f" else len(content)
        start = names.index(b"\0" + name.encode() + b"\0") + 1 if name else 0
        headers += struct.pack("<IIQQQQIIQQ", start, 1, 0, 0, len(data), size, 0, 0, 1, 0)
        data += content
    data[:6] = b"\x7fELF\x02\x01"
    data[0x28:0x30] = struct.pack("<Q", len(data))
    data[0x3C:0x40] = struct.pack("<HH", len(contents) + 1, len(contents))
    return bytes(data + headers)
