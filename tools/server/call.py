"""The fastest way to a warm tool: `python -I -S call.py PATH_OF_SCRIPT ARGUMENTS`.

`passline serve --aliases` prints it for each command.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path.append(__file__.removesuffix("/server/call.py"))

    from server.client import main  # type: ignore

    main()
