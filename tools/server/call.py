"""The fastest way to a warm tool: `python -I -S call.py PATH_OF_SCRIPT ARGUMENTS`.

`passline serve --aliases` prints it for each command.
"""

import sys

sys.path.append(__file__.removesuffix("/server/call.py"))

from server.client import main  # type: ignore

main()
