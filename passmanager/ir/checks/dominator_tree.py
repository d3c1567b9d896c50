"""The dominator tree of the blocks of a region."""

from __future__ import annotations

from xdsl.ir import Block

__all__ = ["DominatorTree"]


class DominatorTree:
    """The dominator tree of the reachable blocks of a region, computed by Semi-NCA.

    Blocks are numbered in depth-first preorder from the entry, which is 0. A dominator of a block
    is an ancestor of it in the depth-first tree, so its number is smaller.
    Source: L. Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005; LLVM
    uses it too.
    """

    def __init__(self, entry: Block) -> None:
        self.blocks: list[Block] = []
        self.numbers: dict[Block, int] = {}
        self.parents: list[int] = []
        self._search(entry)
        self.dominators = self._dominators(self._predecessors())
        self.children: list[list[Block]] = [[] for _ in self.blocks]
        for number, dominator in enumerate(self.dominators[1:], 1):
            self.children[dominator].append(self.blocks[number])
        self.enter, self.leave = self._intervals()

    def _search(self, entry: Block) -> None:
        """Number the blocks; the parent of each is the block from which it was reached first."""
        pending = [(entry, 0)]
        while pending:
            block, parent = pending.pop()
            if block in self.numbers:
                continue
            number = self.numbers[block] = len(self.blocks)
            self.blocks.append(block)
            self.parents.append(parent)
            # Reversed on a stack, so that the first successor is visited first, as in a recursive
            # search; a block may be pushed several times, and the first to be popped counts.
            pending += [(successor, number) for successor in reversed(_successors(block))]

    def _predecessors(self) -> list[list[int]]:
        """Return the numbers of the reachable predecessors of each block."""
        predecessors: list[list[int]] = [[] for _ in self.blocks]
        for number, block in enumerate(self.blocks):
            for successor in _successors(block):
                predecessors[self.numbers[successor]].append(number)
        return predecessors

    def _dominators(self, predecessors: list[list[int]]) -> list[int]:
        """Return the immediate dominator of each block.

        It is the nearest ancestor in the dominator tree built so far whose number is at most that
        of the semidominator (the "NCA" step).
        """
        semi = self._semidominators(predecessors)
        # In preorder, so that the dominators of all ancestors are final. O(n^2) in the worst case,
        # to which real programs do not come near.
        dominators = self.parents.copy()
        for number in range(1, len(dominators)):
            while dominators[number] > semi[number]:
                dominators[number] = dominators[dominators[number]]
        return dominators

    def _semidominators(self, predecessors: list[list[int]]) -> list[int]:
        """Return the semidominator of each block.

        That is the lowest block from which a path leads to it through blocks of higher numbers
        only. Blocks are processed from the last number down, so the blocks processed already are
        those with numbers above the current one: `linked` in `_lowest`.
        """
        count = len(self.blocks)
        semi, labels, ancestors = [*range(count)], [*range(count)], self.parents.copy()
        for number in range(count - 1, 0, -1):
            semi[number] = min(
                # The edge from the parent is a path of its own.
                self.parents[number],
                *(
                    semi[_lowest(predecessor, number + 1, semi, labels, ancestors)]
                    for predecessor in predecessors[number]
                ),
            )
        return semi

    def _intervals(self) -> tuple[list[int], list[int]]:
        """Return the times at which a walk of the tree enters and leaves each block.

        A block dominates the blocks whose times lie between its own.
        """
        enter, leave = [0] * len(self.blocks), [0] * len(self.blocks)
        clock, pending = 0, [~0, 0]  # ~n: leave block n; n: enter it
        while pending:
            number = pending.pop()
            clock += 1
            if number < 0:
                leave[~number] = clock
                continue
            enter[number] = clock
            for child in self.children[number]:
                pending += (~self.numbers[child], self.numbers[child])
        return enter, leave

    def properly_dominates(self, a: Block, b: Block) -> bool:
        """Return whether `a` is another block than `b`, and on every path to `b`.

        An unreachable `b` has no such path and is dominated by every other block.
        """
        if (b_number := self.numbers.get(b)) is None:
            return a is not b
        if (a_number := self.numbers.get(a)) is None:
            return False
        return (
            # Constant time, where walking up the tree takes its depth.
            self.enter[a_number] < self.enter[b_number]
            and self.leave[b_number] < self.leave[a_number]
        )


def _successors(block: Block) -> tuple[Block, ...]:
    """Return the successors of `block` in its region."""
    if (last := block.last_op) is None:
        return ()
    return tuple(successor for successor in last.successors if successor.parent is block.parent)


def _lowest(
    number: int, linked: int, semi: list[int], labels: list[int], ancestors: list[int]
) -> int:
    """Return the block with the lowest semidominator on the path of ancestors from `number` up to,
    not including, the first one below `linked`.

    Compresses the path: `labels` holds the best block of each compressed part, so that a sequence
    of calls takes nearly linear time.
    """
    if ancestors[number] < linked:
        return labels[number]
    path: list[int] = []
    while ancestors[number] >= linked:
        path.append(number)
        number = ancestors[number]
    best, top = labels[number], ancestors[number]
    for number in reversed(path):
        ancestors[number] = top
        if semi[best] < semi[labels[number]]:
            labels[number] = best
        else:
            best = labels[number]
    return best
