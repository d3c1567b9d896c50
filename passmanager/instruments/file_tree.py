"""Files of IR in folders that mirror the nesting of the ops."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from xdsl.ir import Operation

from ..ir.walk import ancestors, name_of, symbol_of
from ..output.files import replace_file


class FileTree:
    """A folder for texts about ops: that about `@f` in `@m` is `0_1_cse.mlir` in the folder
    `builtin_module_m/func_func_f`.

    Each op counts its texts, from 0; a name begins with the number of the last text of each op
    around it. Ops of one name in one op count together. Source: MLIR's `--mlir-print-ir-tree-dir`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._counts: Counter[Path] = Counter()
        self.failure: OSError | None = None
        """The error for the first file that could not be written."""

    def write(self, op: Operation, name: str, text: str) -> None:
        """Write a text about `op`, which ends with a pass of this name."""
        folder, numbers = self.root, list[int]()
        around = [*ancestors(op)][::-1]
        for each in around:
            folder /= _folder_name(each)
            self._counts[folder] += each is op
            numbers.append(max(0, self._counts[folder] - 1))
        path = folder / f"{'_'.join(map(str, numbers))}_{name}.mlir"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            replace_file(path, [text.encode(errors="backslashreplace")])
        except OSError as error:
            said = error.strerror or str(error)
            self.failure = self.failure or OSError(error.errno, said, str(path))


def _folder_name(op: Operation) -> str:
    """Return the name of the folder of an op; long names are cut, as file systems demand."""
    symbol = re.sub(r"[/\\\0]", "_", symbol_of(op)) or "no-symbol-name"
    return f"{name_of(op).replace('.', '_')}_{symbol}"[:200]
