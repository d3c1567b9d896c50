"""What is left out here where the tools of the compiler cannot be imported (`make test-core`)."""

from __future__ import annotations

from support.needs_numpy import HAS_NUMPY

OF_THE_COMPILER = [
    "bisect/test_faults.py",
    "command_line/test_columns.py",
    "command_line/test_completion.py",
    "command_line/test_short_help.py",
    "test_compile.py",
    "test_corpus.py",
    "test_frontends.py",
    "test_load.py",
    "test_opt_onnx.py",
    "test_run.py",
    "test_tune.py",
    "test_verify_semantics.py",
    "test_written_files.py",
]
"""Tests of the tools of the compiler, or of all tools alike."""

collect_ignore = [] if HAS_NUMPY else OF_THE_COMPILER
