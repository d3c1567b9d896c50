"""`python -m passline.new NAME`, as `passline new NAME`."""

from __future__ import annotations

import sys

from .tools.new.project import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.argv[0] = "python -m passline.new"  # as which messages name the program
    main()
