"""Broken inputs of each kind: IR, pipelines, configuration, command lines, reproducers, models,
arrays and records of runs.
"""

from __future__ import annotations

import json
import re
import shlex
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random

from support.suites.inprocess import passline_opt, run_lines

from .mutation import mutate_bytes, mutate_text

__all__ = ["KINDS", "BrokenInput", "broken_input", "load_sources"]

ROOT = Path(__file__).parents[2]

FILE = "{}"
"""The place of the input file in the arguments of a command."""


@dataclass(frozen=True)
class BrokenInput:
    """A command, and the content of the file that it reads."""

    kind: str
    tool: str
    arguments: tuple[str, ...]
    content: bytes
    suffix: str = ".mlir"


def broken_input(seed: int, kinds: Sequence[str] = ()) -> BrokenInput:
    """Return the input of a seed, of one of the kinds, by default of all."""
    random = Random(seed)
    names = kinds or [name for name, (weight, _) in KINDS.items() for _ in range(weight)]
    kind = random.choice(names)
    return KINDS[kind][1](random)


def load_sources(kinds: Sequence[str] = ()) -> None:
    """Load what inputs of these kinds, by default of all, are made of: it takes seconds."""
    xdsl_texts()
    if not kinds or any(kind.startswith("onnx") for kind in kinds):
        models()


# IR


@cache
def ir_texts() -> Sequence[str]:
    """Return the IR of the documentation, the examples and our tests."""
    paths = [*(ROOT / "tests" / "filecheck").rglob("*.mlir"), *(ROOT / "examples").rglob("*.mlir")]
    texts = [path.read_text() for path in sorted(paths)]
    pages = [path.read_text() for path in sorted((ROOT / "docs").rglob("*.md"))]
    texts += [text for page in pages for text in re.findall(r"```mlir\n(.*?)```", page, re.DOTALL)]
    return [part for text in texts for part in re.split(r"^// -----$", text, flags=re.MULTILINE)]


@cache
def xdsl_texts() -> Sequence[str]:
    """Return the IR of xDSL's tests, if other tests have downloaded them, else ours."""
    paths = sorted((ROOT / ".cache").glob("xdsl-*/tests/filecheck/**/*.mlir"))
    texts = [path.read_text() for path in paths]
    parts = (part for text in texts for part in re.split(r"^// -----$", text, flags=re.MULTILINE))
    return [*parts] or ir_texts()


@cache
def relax_texts() -> Sequence[str]:
    """Return the texts of ours whose functions end: without loops and recursion."""
    endless = re.compile(r"scf\.(while|for)|func\.call|relax\.(invoke|scan|while|loop)|tir\.for")
    return [text for text in ir_texts() if "relax." in text and not endless.search(text)]


@cache
def our_passes() -> Sequence[str]:
    """Return the names of the passes that need no option and start no other program."""
    from passline.passes import PASSES

    left_out = {"mlir-opt", "fuse-ops-by-pattern", "tir-bind-target", "print-ir", "print-op-stats"}
    return ["canonicalize", "cse", *(name for name in PASSES if name not in left_out)]


def ir(random: Random) -> BrokenInput:
    return broken_ir("ir", ir_texts(), random)


def xdsl_ir(random: Random) -> BrokenInput:
    return broken_ir("xdsl ir", xdsl_texts(), random)


def broken_ir(kind: str, texts: Sequence[str], random: Random) -> BrokenInput:
    text = mutate_text(random.choice(texts), random, texts)
    content = text.encode(errors="surrogatepass")
    if random.random() < 0.1:
        content = mutate_bytes(content, random)
    return BrokenInput(kind, "passline-opt", (FILE, *ir_options(random)), content)


def ir_options(random: Random) -> tuple[str, ...]:
    options: tuple[str, ...] = ("--allow-unregistered-dialect",) * (random.random() < 0.4)
    match random.randrange(10):
        case 0 | 1 | 2:
            return options
        case 3 | 4:
            return (*options, "-O3")
        case 5:
            return (*options, "--print-op-generic", "--verify-roundtrip")
        case 6:
            return (*options, "--split-input-file", "--verify-diagnostics")
        case _:
            count = 1 + random.randrange(3)
            return (*options, "-p", ",".join(random.choices(our_passes(), k=count)))


def computed_ir(random: Random) -> BrokenInput:
    text = mutate_text(random.choice(relax_texts()), random, relax_texts())
    names = re.findall(r"func\.func @(\w+)", text) or ["main"]
    arguments = (FILE, "--function", random.choice(names), "--seed", "1")
    return BrokenInput("run", "passline-run", arguments, text.encode(errors="surrogatepass"))


def random_bytes(random: Random) -> BrokenInput:
    content = random.randbytes(random.choice((0, 1, 2, 10, 100, 2000)))
    suffix = random.choice((".mlir", ".onnx"))
    return BrokenInput("bytes", "passline-opt", (FILE,), content, suffix)


# Pipelines, configuration, command lines


MODULE = b"""\
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = relax.constant dense<1.0> : tensor<3xf32>
  %y = relax.add %x, %c : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
"""

PIPELINES = (
    "infer-type,fold-constant{max-elements=64}",
    "builtin.module(func.func(canonicalize,cse),dead-code-elimination{entry-functions=main,f})",
    'sequential{name="x" opt-level=1 required=infer-type}(fold-constant,fuse-ops{max-depth=2})',
    "fixpoint{max-iterations=3}(simplify-expr,fixpoint(cse),any(cse))",
    "repeat{n=2}(tir.prim_func(tir-unroll-loop{auto-max-step=16 explicit-unroll=true}))",
    "mlir-opt[cse,func.func(canonicalize{max-iterations=2})]",
    "convert-layout{desired=relax.nn.conv2d:NHWC:HWIO skip-layers=0,1},plan-memory,legalize-ops",
    "optimize,lower-to-tir,lower-to-mlir",
)

CONFIGURATION = """\
"fold-constant" = { max-elements = 64 }
[tir.UnrollLoop]
auto_max_step = 16
explicit_unroll = false
[FuseOps]
fuse_opt_level = 2
max_depth = 3
[relax]
fallback_device_type = 1
[convert-layout]
desired = ["relax.nn.conv2d:NHWC:HWIO"]
skip_layers = [0, 1]
"""

COMMAND_LINES = (
    "-O3 --timing=tree --memory --disable-pass=cse,fuse-ops --require-pass fold-constant",
    "-p cse --print-ir-before=cse --print-ir-after-all --print-ir-module-scope --filter-function=f",
    "-p infer-type,cse --opt-bisect=1-3,7 --debug-counter=rewrite=1-3:7 --print-debug-counter",
    "-O2 --opt-bisect-limit=3 --print-pass-numbers --print-diff=plain --remarks=fold.* --quiet",
    "-O1 --config=fold-constant.max_elements=64 --pass-statistics=json --explain-pipeline",
    "--elide-elementsattrs-if-larger=4 --large-elements-as-resources=2 --print-unique-ssa-ids",
    "--list-passes=all --help-pass cse --list-dialects --list-configs --print-completion bash",
    "--split-input-file=x --output-split-marker=y --verify-diagnostics=only-expected -t x86-64-v3",
    "-p cse,canonicalize --stop-after=cse --start-before cse --verify-preserves --no-verify-each",
    "--print-ir-after-pass-number=1-2 --debug-pass-manager --why-erased=add --blame -O3 --no-print",
    "--frontend=onnx --no-implicit-module --disable-verify --print-op-generic --print-debuginfo",
)


def pipeline_text(random: Random) -> str:
    text = mutate_text(random.choice(PIPELINES), random, PIPELINES)
    if random.random() < 0.05:
        text = text.replace("(", "(" * random.choice((100, 10_000)))
    return without_zeros(text)


def without_zeros(text: str) -> str:
    """Return an argument as a shell can pass it."""
    return text.replace("\x00", "")


def pipeline(random: Random) -> BrokenInput:
    arguments = (FILE, "-p", pipeline_text(random), "--explain-pipeline")
    return BrokenInput("pipeline", "passline-opt", arguments, MODULE)


def configuration(random: Random) -> BrokenInput:
    if random.random() < 0.3:
        names = re.findall(r"[\w-]+", CONFIGURATION)
        given = without_zeros(mutate_text(f"{random.choice(names)}.max_elements=64", random, names))
        return BrokenInput("config", "passline-opt", (FILE, "-O3", "--config", given), MODULE)
    text = mutate_text(CONFIGURATION, random, [CONFIGURATION])
    content = text.encode(errors="surrogatepass")
    if random.random() < 0.2:
        content = mutate_bytes(content, random)
    arguments = ("--config-file", FILE, "-O3", "--explain-pipeline")
    return BrokenInput("config", "passline-opt", arguments, content, ".toml")


def command_line(random: Random) -> BrokenInput:
    lines = (*COMMAND_LINES, *(" ".join(line) for line in run_line_options()))
    text = without_zeros(mutate_text(random.choice(lines), random, lines))
    given = [word for word in text.split() if "/" not in word]
    # Nothing is written, no other file is read, and nothing is repeated for ever.
    words = [word for word in given if not re.match(_WRITES, word) and "repeat" not in word]
    place = random.randrange(len(words) + 1)
    arguments = (*words[:place], FILE, *words[place:])
    return BrokenInput("command line", "passline-opt", arguments, MODULE)


_WRITES = re.compile(
    r"-+(o|out|dump-i|crash|local|gen|trace|report|record|remarks-o|table|j|job|exec|mlir)"
)


@cache
def run_line_options() -> Sequence[Sequence[str]]:
    """Return the options of passline-opt in the RUN lines of our tests."""
    found: list[list[str]] = []
    for path in sorted((ROOT / "tests" / "filecheck").rglob("*.mlir")):
        for line in run_lines(path):
            words = shlex.split(line.partition("|")[0])
            if words[:1] == ["passline-opt"] and "/" not in line:
                found.append([word for word in words[1:] if word not in ("%s", "2>&1")])
    return found


def reproducer(random: Random) -> BrokenInput:
    ir_text = random.choice((MODULE.decode(), random.choice(relax_texts())))
    text = f"""{ir_text}
{{-#
  external_resources: {{
    mlir_reproducer: {{
      pipeline: "builtin.module({random.choice(PIPELINES[:4])})",
      disable_threading: true,
      verify_each: true
    }}
  }}
#-}}
"""
    content = mutate_text(text, random, ir_texts()).encode(errors="surrogatepass")
    return BrokenInput("reproducer", "passline-opt", (FILE, "--run-reproducer"), content)


# ONNX


@cache
def models() -> Sequence[bytes]:
    """Return the small models of ONNX's own tests of operators."""
    import warnings

    import numpy as np
    from onnx.backend.test.case.node import collect_testcases

    np.random.seed(0)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    texts = (case.model.SerializeToString() for case in cases if case.model is not None)
    return [text for text in texts if len(text) < 4000]


@cache
def stored_models() -> Sequence[bytes]:
    """Return the small models that are files of the package `onnx`."""
    import onnx

    folder = Path(onnx.__file__).parent / "backend" / "test" / "data"
    texts = (path.read_bytes() for path in sorted(folder.rglob("model.onnx")))
    return [text for text in texts if len(text) < 4000]


def onnx_bytes(random: Random) -> BrokenInput:
    return broken_model("onnx bytes", mutate_bytes(random.choice(models()), random), random)


def onnx_fields(random: Random) -> BrokenInput:
    return broken_model("onnx fields", with_other_fields(models(), random), random)


def stored_onnx(random: Random) -> BrokenInput:
    if random.random() < 0.3:
        content = mutate_bytes(random.choice(stored_models()), random)
    else:
        content = with_other_fields(stored_models(), random)
    return broken_model("stored onnx", content, random)


def broken_model(kind: str, content: bytes, random: Random) -> BrokenInput:
    return BrokenInput(kind, "passline-opt", (FILE, *onnx_options(random)), content, ".onnx")


def with_other_fields(sources: Sequence[bytes], random: Random) -> bytes:
    """Return one of the models with other fields, some of them those of another one."""
    from onnx import ModelProto

    from .proto_mutation import mutate_message

    model, other = (ModelProto.FromString(random.choice(sources)) for _ in range(2))
    mutate_message(model, random, other)
    return model.SerializeToString()


def onnx_options(random: Random) -> tuple[str, ...]:
    return random.choice(((), ("-O3",), ("--no-print",)))


# Arrays and records


def arrays(random: Random) -> BrokenInput:
    import numpy as np

    buffer = BytesIO()
    if random.random() < 0.5:
        np.savez(buffer, x=np.ones((2, 3), np.float32))
        content = mutate_bytes(buffer.getvalue(), random)
    else:  # a sound archive with a broken array in it, past the checksum
        np.save(buffer, np.ones((2, 3), np.float32))
        array = buffer.getvalue()
        end = array.index(b"\n")
        header = mutate_text(array[10:end].decode(), random, ["(1 << 62,)", "'|O'", "object"])
        broken = array[:10] + header.encode().ljust(end - 10)[: end - 10] + array[end:]
        broken = mutate_bytes(broken, random) if random.random() < 0.3 else broken
        with zipfile.ZipFile(buffer := BytesIO(), "w") as archive:
            archive.writestr("x.npy", broken)
        content = buffer.getvalue()
    arguments = (str(ROOT / "tests" / "fuzz" / "add.mlir"), "--inputs", FILE)
    return BrokenInput("arrays", "passline-run", arguments, content, ".npz")


@cache
def record_text() -> str:
    """Return the record of a run."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder, "record.jsonl")
        passline_opt("-O3", f"--record={path}", stdin=MODULE.decode())
        return path.read_text()


_VALUES = ("null", "-1", "1e999", '"x"', "[]", "[[]]", "{}", "1" + "0" * 30, "true")


def record(random: Random) -> BrokenInput:
    lines = record_text().splitlines()
    if random.random() < 0.5:
        text = mutate_text("\n".join(lines), random, lines)
    else:  # sound JSON, of another form
        events = [json.loads(line) for line in lines]
        for _ in range(1 + random.randrange(3)):
            event = random.choice(events)
            key = random.choice([*event])
            if random.random() < 0.3:
                del event[key]
                if not event:
                    break
            else:
                event[key] = json.loads(random.choice(_VALUES))
            events = [event for event in events if event]
        text = "\n".join(map(json.dumps, events))
    shown = random.choice(("--timing", "--print-diff", "--blame", "--pass-statistics", "-o-"))
    content = text.encode(errors="surrogatepass")
    return BrokenInput("record", "passline-report", (FILE, shown), content, ".jsonl")


KINDS: Mapping[str, tuple[int, Callable[[Random], BrokenInput]]] = {
    "ir": (25, ir),
    "xdsl ir": (15, xdsl_ir),
    "run": (8, computed_ir),
    "bytes": (2, random_bytes),
    "pipeline": (6, pipeline),
    "config": (4, configuration),
    "command line": (6, command_line),
    "reproducer": (3, reproducer),
    "onnx bytes": (10, onnx_bytes),
    "onnx fields": (15, onnx_fields),
    "stored onnx": (2, stored_onnx),
    "arrays": (3, arrays),
    "record": (3, record),
}
"""The kinds of inputs: name -> weight, and the function that makes one."""
