"""The nodes of tree ensembles, and their form in relax, where all compare by `<=`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan

import numpy as np
from xdsl.dialects.builtin import Float64Type, i1, i32

from .....interpreters.arrays import Array
from ...errors import Unsupported
from ..expression import Expression, constant

__all__ = ["MODES", "Trees"]

MAX_DEPTH = 4096
MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER", "LEAF")


@dataclass
class Trees:
    """The nodes of all trees; both children of a leaf are the leaf itself."""

    features: Array
    splits: Array
    modes: Sequence[str]
    true: Array
    false: Array
    missing: Array
    """Whether NaN goes to the true child."""
    members: Mapping[int, Sequence[float]]
    """The values that a node of mode MEMBER compares with."""
    roots: Array
    weights: Array
    """For each node and target, nonzero for leaves alone."""
    voted: Array
    """Whether a node has a weight for a target."""

    def check(self, count: int) -> None:
        """Raise Unsupported if a node, or one of `count` features, does not exist."""
        last = len(self.true) - 1
        for places in (self.true, self.false, self.roots):
            if places.size and not 0 <= places.min() <= places.max() <= last:
                raise Unsupported("a tree with a child that does not exist")
        if self.features.size and not 0 <= self.features.min() <= self.features.max() < count:
            raise Unsupported(f"a tree that reads a feature which is not among the {count}")

    def aggregated(self, x: Expression, aggregation: str) -> Expression:
        """Return the sum, mean, minimum or maximum of the weights of the leaves."""
        leaves = np.array(self.modes) == "LEAF"
        at = self.leaves(x)
        weights = constant(x.node, self.weights[leaves], x.element).take(at, 0)
        if aggregation in ("SUM", "AVERAGE"):
            y = weights.sum(1)
            return y / len(self.roots) if aggregation == "AVERAGE" else y
        voted = constant(x.node, self.voted[leaves], i1).take(at, 0)
        bound = inf if aggregation == "MIN" else -inf
        y = voted.where(weights, bound).op(aggregation.lower(), axis=[1])
        return voted.op("any", axis=[1]).where(y, 0.0)

    def leaves(self, x: Expression) -> Expression:
        """Return the leaf that each row of x reaches in each tree: its number among the leaves."""
        self.check(x.shape[1])
        steps = self.steps(np.float64 if isinstance(x.element, Float64Type) else np.float32)
        inner = int(np.count_nonzero(~steps.is_leaf))
        data, features = x, steps.features
        if steps.missing.any():
            # NaN is at most no number. Where it goes to the first child, it is read as -inf.
            filled = x.op("isnan").where(-inf, x)
            data = filled if steps.missing[:inner].all() else x.concat(filled, axis=1)
            features = features + np.where(steps.missing, data.shape[1] - x.shape[1], 0)
        table = np.stack([features, steps.first, steps.second], axis=1)
        at = data.op(
            "tree_leaves",
            constant(x.node, table, i32),
            constant(x.node, steps.splits, x.element),
            constant(x.node, steps.roots, i32),
            depth=steps.depth(),
        )
        return at - inner

    def steps(self, dtype: type[np.floating]) -> TreeNodes:
        """Return nodes that reach the same leaves with data of a type."""
        modes, splits = np.array(self.modes), self.splits.astype(dtype)
        # No number compares with NaN, in any order.
        modes = np.where(np.isnan(splits) & np.isin(modes, ["LT", "GTE", "GT"]), "LEQ", modes)
        # x > s is not x <= s, but for NaN. x < s is x <= the number before s.
        swapped = np.isin(modes, ["GTE", "GT", "NEQ"])
        below = np.isin(modes, ["LT", "GTE"])
        steps = TreeNodes(
            features=self.features,
            splits=np.where(below, before(splits), splits),
            first=np.where(swapped, self.false, self.true),
            second=np.where(swapped, self.true, self.false),
            missing=(self.missing != np.isin(modes, ["GTE", "GT"]))
            & ~np.isin(modes, ["NEQ", "LEAF"]),
            is_leaf=modes == "LEAF",
            roots=self.roots,
        )
        sets = np.isin(modes, ["EQ", "NEQ", "MEMBER"])
        steps.split_nan(np.flatnonzero(np.isnan(steps.splits) & ~sets))
        steps.split_sets(
            {
                node: np.array(self.members.get(node, splits[node]), dtype)
                for node in np.flatnonzero(sets).tolist()
            }
        )
        steps.put_leaves_last()
        return steps


def before(numbers: Array) -> Array:
    """Return the maximum number less than each; NaN if there is none."""
    return np.where(numbers > -inf, np.nextafter(numbers, numbers.dtype.type(-inf)), nan)


@dataclass
class TreeNodes:
    """The nodes of trees: data goes to the first child if a feature is at most the split, and to
    the second otherwise. Both children of a leaf are the leaf itself."""

    features: Array
    splits: Array
    first: Array
    second: Array
    missing: Array
    """Whether NaN goes to the first child."""
    is_leaf: Array
    roots: Array

    def split_nan(self, nodes: Array) -> None:
        """Let NaN alone go to the first child of nodes, if it does, and all numbers to the
        second."""
        # By an infinite split, to which all numbers go first.
        missing, first, second = self.missing[nodes], self.first[nodes], self.second[nodes]
        self.splits[nodes], self.missing[nodes] = inf, False
        self.first[nodes], self.second[nodes] = second, np.where(missing, first, second)

    def split_sets(self, sets: Mapping[int, Array]) -> None:
        """Let the members of sets go to the first child of nodes, and other numbers to the
        second."""
        rows: list[tuple[int, float, int, int]] = []
        for node, members in sets.items():
            members = np.unique(members[~np.isnan(members)])
            if members.size:
                rows += self.search(node, members, len(self.first) + len(rows))
            else:
                self.split_nan(np.array([node]))
        features, splits, first, second = zip(*rows, strict=True) if rows else [()] * 4
        self.features = np.append(self.features, np.array(features, np.int64))
        self.splits = np.append(self.splits, np.array(splits, self.splits.dtype))
        self.first = np.append(self.first, np.array(first, np.int64))
        self.second = np.append(self.second, np.array(second, np.int64))
        self.missing = np.append(self.missing, np.zeros(len(rows), np.bool_))
        self.is_leaf = np.append(self.is_leaf, np.zeros(len(rows), np.bool_))

    def search(
        self, node: int, members: Array, count: int
    ) -> Sequence[tuple[int, float, int, int]]:
        """Make `node` the root of a binary search of its feature in `members`, which ascend; return
        the other nodes of the search, which are numbered from `count` on."""
        # Of 2 and 5, data goes to   second   first   second   first   second
        #                between         < 2       2 <       < 5     5 <
        bounds = np.stack([before(members), members], axis=1).ravel()
        children = int(self.second[node]), int(self.first[node])
        rows: list[tuple[int, float, int, int]] = []

        def between(low: int, high: int) -> int:
            """Return the node where data goes that is in one of the ranges `low` to `high`."""
            if low == high:
                return children[low % 2]
            place, middle = len(rows), (low + high) // 2
            rows.append((0, 0.0, 0, 0))
            below, above = between(low, middle), between(middle + 1, high)
            rows[place] = (int(self.features[node]), float(bounds[middle]), below, above)
            return count + place

        # After the first step NaN is always above: it reaches the last range below the root, which
        # is that of a member, or the last range of all.
        middle = len(members) - 1 | 1
        self.splits[node] = bounds[middle]
        self.first[node], self.second[node] = between(0, middle), between(middle + 1, len(bounds))
        return rows

    def put_leaves_last(self) -> None:
        """Reorder the nodes: a walk reads the nodes close to each other, and leaves once."""
        order = np.argsort(self.is_leaf, kind="stable")
        place = np.argsort(order)
        self.features, self.splits = self.features[order], self.splits[order]
        self.first, self.second = place[self.first[order]], place[self.second[order]]
        self.missing, self.is_leaf = self.missing[order], self.is_leaf[order]
        self.roots = place[self.roots]

    def depth(self) -> int:
        """Return the number of levels below the roots; Unsupported for a cycle."""
        level, depth = np.unique(self.roots), 0
        while (inner := level[~self.is_leaf[level]]).size:
            level = np.unique(np.concatenate([self.first[inner], self.second[inner]]))
            depth += 1
            if depth > MAX_DEPTH:
                raise Unsupported(f"a tree of more than {MAX_DEPTH} levels, or with a cycle")
        return depth
