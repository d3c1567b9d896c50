"""Files of arrays in the format of `numpy.savez`."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ...passmanager.context import PassContext
from ...passmanager.errors import PasslineError
from ...passmanager.limits import too_many_elements
from ...passmanager.output.files import replacing

if TYPE_CHECKING:
    from .arrays import Array

__all__ = ["load_arrays", "save_arrays"]


def load_arrays(file: str) -> dict[str, Array]:
    """Return the arrays in a file written by `numpy.savez`; PasslineError for any other file."""
    import numpy as np

    try:
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():  # compressed zeros may be any number
                limit = PassContext.current().max_elements
                if (reason := too_many_elements([member.file_size // 8], limit)) is not None:
                    raise PasslineError(f"'{file}': {member.filename} of 8 bytes each: {reason}")
        arrays: object = np.load(file, allow_pickle=False)  # a pickle may run code
        if isinstance(arrays, np.lib.npyio.NpzFile):
            with arrays:
                return {name: arrays[name] for name in arrays.files}
    except (PasslineError, OSError):
        raise
    except Exception:  # zipfile, numpy and the tokenizer of the header raise any; or no memory
        pass
    raise PasslineError(f"'{file}' is not a file of arrays (.npz)")


def save_arrays(file: str, arrays: Mapping[str, Array]) -> None:
    """Write arrays in the format of `numpy.savez`, in pieces; the file is replaced at the end."""
    import numpy as np

    # Not numpy.savez: it takes names as keywords beside its own.
    with replacing(Path(file)) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
