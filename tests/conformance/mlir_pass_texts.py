"""What passline-opt prints where MLIR's CHECK lines have another text, with the reason."""

from __future__ import annotations

from collections.abc import Mapping

OWN_WORDS = "messages in our words, with the place in the text of the pipeline"
OPTIONS = "strings are in quotes, and options in the order of the fields"
ORDER = "a pass runs on all functions before the next pass runs"
ROWS = "rows in the order of the pipeline, also for verification; a function pass has no row above"

TIMING = """
Execution time report
Total Execution Time:
Name
Parser
+Verifier
+sequential
+'func.func' Pipeline
+cse
+verify
+canonicalize
+verify
+cse
+verify
+Output
+Rest
+Total
"""
TIMING_LIST = "Execution time report\nTotal Execution Time:\nName\n&canonicalize\n&cse\nTotal"
NESTED = """
test-pm-nested-pipeline
+'builtin.module' Pipeline
+test-module-pass
+test-function-pass
+test-function-pass
"""
BEFORE_ALL = """
IR Dump Before cse: func.func(cse) //
+func.func @foo()
IR Dump Before cse: func.func(cse) //
+func.func @bar()
IR Dump Before canonicalize: func.func(canonicalize) //
+func.func @foo()
IR Dump Before canonicalize: func.func(canonicalize) //
+func.func @bar()
"""


def _options(second: str) -> str:
    """Return the dump of two passes in a module, the second with this string."""
    return f"""
builtin.module(
+  builtin.module(
+    func.func(
+      test-options-pass{{list=3 string-list={{}} string="" enum="zero"}},
+      test-options-pass{{list=1,2,3,4 string-list={{}} string={second} enum="one"}}
+    )
+  )
+)
"""


NESTED_OPTIONS = """
+  func.func(
list={{list=1 string="foo"},{list=2 string="bar" enum="one"},{list=3 string="baz" enum="two"}}
"""
STRINGS = 'test-options-pass{list={} string-list="","" string="" enum="zero"}'

CHECKS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "action-profiler.mlir": {
        "CHECK": (
            "a trace has one event for a pass, with its duration",
            """
"name": "test-stats-pass", "cat": "pass", "ph": "X"
"name": "test-module-pass", "cat": "pass", "ph": "X"
""",
        )
    },
    "crash-recovery.mlir": {
        "REPRO": (
            "the reproducer has an anchor around each pass",
            """
builtin.module @inner_mod1
builtin.module @foo
builtin.module(builtin.module(test-module-pass)),builtin.module(builtin.module(test-pass-crash))
""",
        )
    },
    "dynamic-pipeline.mlir": {
        "MOD1": (
            ORDER,
            """
Before cse: func.func(cse)
+@foo
Before cse: func.func(cse)
+@baz
Before canonicalize: func.func(canonicalize)
+@foo
Before canonicalize: func.func(canonicalize)
+@baz
""",
        ),
        "MOD2": (
            ORDER,
            """
Before cse: func.func(cse)
+@foo
Before canonicalize: func.func(canonicalize)
+@foo
""",
        ),
        "MOD1-ONLY": (ORDER, "dynamic-pipeline skip op name: inner_mod2"),
        "MOD2-ONLY": (ORDER, ""),
        "CHECK": (ORDER, ""),
    },
    "invalid-interface-pass.mlir": {
        "CHECK": (OWN_WORDS, "pass 'test-interface-pass' cannot run on this 'builtin.module'")
    },
    "invalid-pass.mlir": {"CHECK": (OWN_WORDS, "'test-module-pass' has no option 'test-option'")},
    "ir-printing.mlir": {
        "BEFORE_ALL": (ORDER, BEFORE_ALL + "-IR Dump After"),
        "AFTER_ALL": (ORDER, "-IR Dump Before\n" + BEFORE_ALL.replace("Before", "After").strip()),
    },
    "pass-timing.mlir": {
        "LIST": (ROWS, TIMING_LIST),
        "MT_LIST": (ROWS, TIMING_LIST),
        "LIST-JSON": (ROWS, '-Execution time report\n&"name": "canonicalize"\n&"name": "cse"'),
        "PIPELINE": (ROWS, TIMING),
        "MT_PIPELINE": (ROWS, TIMING),
        "PIPELINE-JSON": (
            ROWS,
            """
-Execution time report
"name": "Parser"
"name": "cse"
"name": "canonicalize"
"name": "cse"
"name": "Output"
""",
        ),
        "NESTED_PIPELINE": (ROWS, NESTED),
    },
    "pipeline-options-parsing.mlir": {
        "CHECK_ERROR_1": (OWN_WORDS, "expected the name of an option, or '}'"),
        "CHECK_ERROR_2": (OWN_WORDS, "'test-module-pass' has no option 'test-option'"),
        "CHECK_ERROR_3": (OWN_WORDS, "'test-module-pass' has no option 'invalid-option'"),
        "CHECK_ERROR_4": (OWN_WORDS, "expected a list (each a whole number), got 3,notaninteger"),
        "CHECK_ERROR_5": (OWN_WORDS, "expected one of zero, one, two, got invalid"),
        "CHECK_1": (
            OPTIONS,
            'list=1,2,3,4,5 string-list="a","b","c","d" '
            r'string="nested_pipeline{arg1=10 arg2=\" {} \" arg3=true}" enum="zero"',
        ),
        "CHECK_2": (OPTIONS, 'list=1 string-list="a","b" string="" enum="one"'),
        "CHECK_3": (OPTIONS, _options('""')),
        "CHECK_4": (OPTIONS, _options('"foobar"')),
        "CHECK_5": (OPTIONS, _options('"foo bar baz"')),
        "CHECK_6": (OPTIONS, _options(r'"foo\"bar\"baz"')),
        "CHECK_7": (OPTIONS, f"builtin.module({NESTED_OPTIONS}"),
        "CHECK_8": (OPTIONS, 'list={{list=1 string="foo"},{string="bar" enum="one"}}'),
        "CHECK_9": (
            "a list of one empty string is one: MLIR cannot spell it",
            'test-options-pass{list={} string-list="" string="" enum="zero"}',
        ),
        "CHECK_10": (OPTIONS, STRINGS),
        "CHECK_11": (
            "a pipeline that takes options is a pass",
            "test-options-super-set-ab-pipeline{foo=true bar=false}",
        ),
    },
    "pipeline-parsing.mlir": {
        "CHECK": (
            ROWS,
            """
'builtin.module' Pipeline
+test-module-pass
+test-function-pass
+test-function-pass
+'func.func' Pipeline
+cse
+canonicalize
""",
        ),
        "TEXTUAL_CHECK": (ROWS, NESTED.replace("pm-nested", "textual-pm-nested")),
        "GENERIC_MERGE_CHECK": (
            ROWS,
            """
'builtin.module' Pipeline
+test-module-pass
+'any' Pipeline
+test-interface-pass
+test-interface-pass
+test-function-pass
+'any' Pipeline
+canonicalize
+'func.func' Pipeline
+cse
""",
        ),
        "PIPELINE_STR_WITH_SPACES_CHECK": (
            ROWS,
            """
'builtin.module' Pipeline
+test-function-pass
+'func.func' Pipeline
+print-op-stats
""",
        ),
        "CHECK_ERROR_1": (OWN_WORDS, "expected ')' at the end of 'any(...)', got the end"),
        "CHECK_ERROR_2": (OWN_WORDS, "unmatched ')'"),
        "CHECK_ERROR_3": (OWN_WORDS, "'builtin.module(...)' contains no passes"),
        "CHECK_ERROR_4": (OWN_WORDS, "expected the name of a pass"),
        "CHECK_ERROR_5": (
            OWN_WORDS,
            "'test-module-pass' needs the whole module, and cannot run on one 'func.func' alone",
        ),
        "CHECK_ERROR_6": (OWN_WORDS, "gives the whole pipeline, and cannot stand beside --cse"),
        "CHECK_ERROR_7": (OWN_WORDS, "there is no pass 'wrong-op'"),
        "CHECK_ROUNDTRIP": (
            "the outermost any(...) is the module",
            "builtin.module(\n+cse\n+)",
        ),
    },
    "remark-final-parallel.mlir": {
        "CHECK": (
            "an unknown place is not printed",
            """
a.c:10:1: remark: [Passed]
+a.c:10:5: remark: [Passed]
+a.c:11:1: remark: [Passed]
+a.c:20:1: remark: [Passed]
+a.c:25:1: remark: [Passed]
+a.c:30:1: remark: [Passed]
+b.c:1:1: remark: [Passed]
""",
        ),
        "CHECK-YAML": (
            "the file has the places in fused and named locations, too",
            """
{ File: a.c, Line: 10, Column: 1 }
{ File: a.c, Line: 10, Column: 5 }
{ File: a.c, Line: 11, Column: 1 }
{ File: a.c, Line: 20, Column: 1 }
{ File: a.c, Line: 25, Column: 1 }
{ File: a.c, Line: 30, Column: 1 }
{ File: b.c, Line: 1, Column: 1 }
""",
        ),
    },
    "remark-output-error.mlir": {"CHECK": (OWN_WORDS, "out.yaml': No such file or directory")},
    "run-reproducer.mlir": {
        "CHECK": (
            "options that only MLIR's pass has are ignored, with a warning",
            """
builtin.module(
+  func.func(
+    cse,
+    canonicalize{max-num-rewrites=-1}
+  )
+)
""",
        )
    },
}
"""File -> prefix of CHECK lines -> the reason, and our lines: a line anywhere after the one before,
after `+` the next line, after `-` no line before the next, after `&` in any order."""

DIFFERENT: Mapping[str, str] = {
    "invalid-pass.mlir": "printing whole modules needs no option: passes run on one core then",
    "pass-name-diagnostics.mlir": "the notes of each failure name the pass, without an option",
    "pipeline-invalid.mlir": "the outermost operation is always a module, as in all of xDSL",
}
"""The files with RUN lines that fail, each with the reason."""
