"""A program that writes `op_properties.txt`: the encoding of the properties of MLIR's operations.

    python passmanager/bytecode/extract_op_properties.py /usr/lib/llvm-22/include

The folder is the one with `mlir/` of an installed MLIR (Debian's `libmlir-22-dev`). The order of
the properties is that of the C++ code which `mlir-tblgen` generates from the definitions there.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TABLEGEN = "mlir-tblgen-22"
TABLE = Path(__file__).with_name("op_properties.txt")

_CLASS = re.compile(
    r"^class (\w+) : public ::mlir::Op<.*?getOperationName\(\) \{\s*"
    r'return ::llvm::StringLiteral\("([^"]+)"\)',
    re.MULTILINE | re.DOTALL,
)
_SIZE = re.compile(r"using (\w+SegmentSizes)Ty = std::array<int32_t, (\d+)>")
_WRITER = re.compile(
    r"^void (\w+)::writeProperties\(.*?\{\n(.*?)^\}\n\n(?!if )(?=\S)", re.MULTILINE | re.DOTALL
)
_STEP = re.compile(
    r"writer\.write(?P<optional>Optional)?Attribute\(prop\.(?P<name>\w+)\);"
    r"|auto &propStorage = prop\.(?P<native>\w+);\s*(?P<code>[^}]*)"
)


def generated(option: str, include: Path, file: Path) -> str:
    """Return what `mlir-tblgen` generates for a file; empty if that is no file of its own."""
    command = [TABLEGEN, option, "-I", str(include), "-I", str(file.parent), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def properties_of(code: str, sizes: dict[str, str]) -> Iterator[str]:
    """Yield the words of the table for the body of a `writeProperties`, in their order."""
    for step in _STEP.finditer(code):
        native, body = step["native"], step["code"] or ""
        if native is None:
            yield step["name"] + ("?" if step["optional"] else "")
        elif native in sizes:
            # From version 6 on the sizes come last; the table has their place in older versions.
            if "DenseI32ArrayAttr" in body:
                yield f"{native}#{sizes[native]}"
        elif "has_value" in body:
            yield f"{native}=optional"
        else:
            yield f"{native}={'bool' if 'OwnedBool' in body else 'varint'}"


def table(include: Path) -> Iterator[str]:
    """Yield the lines of the table: the properties, and the operations that have these."""
    found: dict[str, str] = {}
    for file in sorted(include.glob("mlir/**/*.td")):
        if not (declarations := generated("-gen-op-decls", include, file)):
            continue
        parts = [*_CLASS.finditer(declarations)]
        starts = [0, *(part.end() for part in parts)]
        names, sizes = dict[str, str](), dict[str, dict[str, str]]()
        for part, start in zip(parts, starts, strict=False):
            names[part[1]] = part[2]
            # The properties are declared before the class.
            sizes[part[1]] = dict(_SIZE.findall(declarations[start : part.end()]))
        if not names:
            continue
        for writer in _WRITER.finditer(generated("-gen-op-defs", include, file)):
            if writer[1] in names:
                words = " ".join(properties_of(writer[2], sizes[writer[1]]))
                found[names[writer[1]]] = words
    by_words: defaultdict[str, list[str]] = defaultdict(list)
    for name, words in sorted(found.items()):
        by_words[words].append(name)
    for words, ops in sorted(by_words.items(), key=lambda item: item[1]):
        yield f"{words} : {' '.join(ops)}\n"


if __name__ == "__main__":
    lines = [*table(Path(sys.argv[1]))]
    TABLE.write_text("".join(lines))
    print(f"{TABLE}: {sum(len(line.split(' : ')[1].split()) for line in lines)} operations")
