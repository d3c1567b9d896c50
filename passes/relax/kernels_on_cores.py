"""Kernels that are built on several cores, in forks of this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ...compiler.kernels.builder import KernelRemark
from ...compiler.kernels.choices import Choices, NoKernel
from ...compiler.kernels.kernel import Kernel
from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.fast.acceleration import is_accelerated
from ...passmanager.fast.transfer import Encoder, Packet, Unsendable, decode, known_objects
from ...passmanager.forks import Fork, Lost, Send, available_cores, can_fork, uninterrupted
from ...passmanager.ir.changes import ModuleRecord
from ...passmanager.ir.garbage_collection import paused_collector

Built = tuple[Sequence[tuple[int, Sequence[KernelRemark]]], Packet]
"""The numbers of functions with the remarks about their kernels, and the kernels."""

MIN_KERNELS = 24
"""The number of kernels that take several times as long to build as a fork."""


def kernels_on_cores(
    module: ModuleOp, functions: Sequence[FuncOp], build: Callable[[FuncOp], Kernel], cores: int
) -> Mapping[FuncOp, Kernel]:
    """Return kernels that `build` makes of functions of a module, on up to that many cores: of
    those that can be sent, none if anything goes wrong. The others are left to the caller, with
    their errors."""
    cores = min(cores, available_cores())
    if len(functions) < MIN_KERNELS or cores < 2 or not can_fork() or not is_accelerated("copying"):
        return {}
    known = known_objects(module, ModuleRecord(module))

    def task(part: int) -> Callable[[Send], None]:
        def work(send: Send) -> None:
            encoder = Encoder(known)
            built: list[tuple[int, Sequence[KernelRemark]]] = []
            with paused_collector():
                for number in range(part, len(functions), cores):
                    try:
                        kernel = build(functions[number])
                        if kernel.prepared or kernel.warnings:
                            continue
                        encoder.add(kernel.func)
                    except (NoKernel, Unsendable):
                        continue
                    built.append((number, kernel.remarks))
                send((built, encoder.packet()))

        return work

    kernels: dict[FuncOp, Kernel] = {}
    with ExitStack() as stack:
        with uninterrupted():
            forks = [stack.enter_context(Fork(task(part))) for part in range(cores)]
        try:
            for fork in forks:
                built, packet = cast(Built, fork.receive())
                for (number, remarks), kernel in zip(built, decode(packet, known), strict=True):
                    source, made = functions[number], cast(PrimFuncOp, kernel)
                    kernels[source] = Kernel(source, made, {}, remarks, (), Choices())
        except Lost:
            return {}
    return kernels
