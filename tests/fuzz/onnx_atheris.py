"""Run the importer of ONNX models under libFuzzer, which keeps the inputs that reach new code.

    pip install -e '.[test]' atheris
    PYTHONPATH=tests python -m fuzz.onnx_atheris [--minutes 10] [--corpus DIR] [--seed N]

atheris 3.0 has wheels for CPython 3.11; no other test needs it. The corpus starts with the small
models of ONNX's backend tests. Half of the mutations change fields of the message, the others its
bytes. An error that is no PasslineError ends the run; libFuzzer then writes the model to `crash-*`
in the corpus, or to `oom-*` for one that takes too much memory. Exceptions that no converter
expected, which the importer reports as a ModelError with a cause, are counted, and each is told
once.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Protocol, cast

from google.protobuf.message import DecodeError, EncodeError
from onnx import ModelProto

from .broken_input import place_of
from .broken_kinds import models
from .proto_mutation import mutate_message

__all__ = ["main", "mutate"]

LIMIT = 8000
"""The largest model in bytes."""


class Atheris(Protocol):
    """The functions of the package `atheris` that are called; the tests do not install it."""

    def instrument_imports(self, include: list[str]) -> Instrumenting: ...
    def Setup(
        self, argv: list[str], test: Callable[[bytes], None], *, custom_mutator: Mutator
    ) -> None: ...
    def Mutate(self, data: bytes, size: int) -> bytes: ...
    def Fuzz(self) -> None: ...


class Instrumenting(Protocol):
    def __enter__(self) -> object: ...
    def __exit__(self, *_: object) -> None: ...


Mutator = Callable[[bytes, int, int], bytes]


def mutate(data: bytes, random: Random, other: bytes) -> bytes | None:
    """Return a model with other fields, some of them those of another one; None if it is none."""
    try:
        model, source = ModelProto.FromString(data), ModelProto.FromString(other)
        mutate_message(model, random, source)
        return model.SerializeToString()
    except (DecodeError, EncodeError, UnicodeError):
        return None


def fuzz(atheris: Atheris, arguments: list[str]) -> None:
    """Fuzz until libFuzzer ends the process."""
    with atheris.instrument_imports(["passline.compiler.frontends.onnx"]):
        from passline.compiler.frontends.onnx import import_model
    from passline.passmanager.errors import PasslineError

    seeds, causes = models(), Counter[str]()

    def test(data: bytes) -> None:
        try:
            import_model(data, warn=ignore)
            causes["imported"] += 1
        except PasslineError as error:
            key, cause = "refused", error.__cause__
            if cause is not None and not isinstance(cause, PasslineError):
                key = f"{type(cause).__name__} in {place_of(cause)}"
            causes[key] += 1
            if causes[key] == 1 and key != "refused":
                print(f"NEW {key}: {error}", file=sys.stderr, flush=True)
        if causes.total() % 5000 == 0:
            print(*summary(causes), sep="\n", file=sys.stderr, flush=True)

    def change(data: bytes, size: int, seed: int) -> bytes:
        random = Random(seed)
        if random.random() < 0.5 and (changed := mutate(data, random, random.choice(seeds))):
            return changed[:size]
        return atheris.Mutate(data, size)

    atheris.Setup(arguments, test, custom_mutator=change)
    atheris.Fuzz()


def ignore(_: str) -> None:
    """Take a warning of the importer."""


def summary(causes: Counter[str]) -> list[str]:
    """Return the outcomes with their counts, the most frequent first."""
    return [f"{causes.total()} models", *(f"  {n} x {cause}" for cause, n in causes.most_common())]


def main(arguments: list[str] | None = None) -> None:
    """Fuzz for as long as the command line says."""
    parser = argparse.ArgumentParser(prog="fuzz.onnx_atheris", allow_abbrev=False)
    parser.add_argument("--minutes", type=float, default=10, help="when to stop")
    parser.add_argument("--corpus", type=Path, default=Path("build/onnx-corpus"))
    parser.add_argument("--seed", type=int, default=1, help="the seed of libFuzzer")
    args = parser.parse_args(arguments)
    folder: Path = args.corpus
    folder.mkdir(parents=True, exist_ok=True)
    for index, model in enumerate(models()):
        (folder / f"model-{index}").write_bytes(model)
    options = {
        "max_total_time": round(60 * args.minutes),
        "seed": args.seed,
        "max_len": LIMIT,
        "timeout": 20,
        "rss_limit_mb": 4096,
        "artifact_prefix": f"{folder}/",
    }
    words = [f"-{name}={value}" for name, value in options.items()]
    fuzz(cast(Atheris, import_module("atheris")), [sys.argv[0], *words, str(folder)])


if __name__ == "__main__":
    main()
