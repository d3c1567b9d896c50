"""Fetch the libraries in manifest.toml from the npm registry, and write the hashes of their files.

make vendor          # needs npm
"""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
import tomllib
from hashlib import sha256
from pathlib import Path

VENDOR = Path(__file__).parent


def fetch(package: str, version: str, files: dict[str, str], folder: Path) -> None:
    """Fetch one library and copy its `files`: path in the package -> name here."""
    command = ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{package}@{version}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    with tarfile.open(folder / done.stdout.split()[-1]) as archive:
        for path, name in files.items():
            member = archive.extractfile(f"package/{path}")
            assert member is not None
            (VENDOR / name).write_bytes(member.read())


def main() -> None:
    """Fetch all libraries, and write SHA256SUMS."""
    libraries = tomllib.loads((VENDOR / "manifest.toml").read_text())["library"]
    with tempfile.TemporaryDirectory() as folder:
        for library in libraries:
            fetch(library["package"], library["version"], library["files"], Path(folder))
    names = sorted(name for library in libraries for name in library["files"].values())
    sums = [f"{sha256((VENDOR / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (VENDOR / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    main()
