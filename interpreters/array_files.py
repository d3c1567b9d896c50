"""Files of arrays in the format of `numpy.savez`."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from ..passmanager.files import replace_file

if TYPE_CHECKING:
    from .arrays import Array

__all__ = ["save_arrays"]


def save_arrays(file: str, arrays: Mapping[str, Array]) -> None:
    """Write arrays in the format of `numpy.savez`; the file is replaced at the end."""
    import numpy as np

    # Not numpy.savez: it takes names as keywords beside its own.
    with zipfile.ZipFile(buffer := BytesIO(), "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    replace_file(Path(file), [buffer.getvalue()])
