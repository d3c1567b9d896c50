"""Converters of tree ensembles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan

import numpy as np
from onnx import numpy_helper
from xdsl.dialects.builtin import DYNAMIC_INDEX, Float64Type, f32, f64, i1, i32, i64
from xdsl.ir import SSAValue

from ....interpreters.arrays import Array
from ..errors import Unsupported
from ..node import Converters, Node
from .expression import Expression, constant

# The nodes of tree ensembles, and their form in relax, where all compare by `<=`.


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


# Converters of tree ensembles.


AGGREGATIONS = ("AVERAGE", "SUM", "MIN", "MAX")
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def input_of(node: Node, wide: bool) -> Expression:
    """Return the input, a matrix of f32, or of f64 if it is that or the model computes in it."""
    x = Expression(node, node.input(0))
    x = x.cast(f64 if wide or isinstance(x.element, Float64Type) else f32)
    x = x.expand(0) if x.rank == 1 else x
    if x.rank != 2:
        raise Unsupported(f"an input of {x.rank} dimensions, expected 2")
    if x.shape[1] == DYNAMIC_INDEX:
        raise Unsupported("the number of features of the input must be known")
    return x


# TreeEnsemble


def tree_ensemble(node: Node) -> Expression:
    def tensor(name: str) -> Array:
        found = node.tensor(name)
        return np.zeros(0) if found is None else numpy_helper.to_array(found)

    def integers(name: str) -> Array:
        return np.asarray(node.ints(name) or [], np.int64)

    splits, leaf_weights = tensor("nodes_splits"), tensor("leaf_weights")
    count, leaves = len(splits), len(leaf_weights)
    modes = [MODES[int(mode)] for mode in tensor("nodes_modes")]
    # The nodes, then the leaves, which are their own children.
    own = np.arange(count, count + leaves)
    children = [
        np.append(np.where(integers(f"nodes_{k}leafs") != 0, ids + count, ids), own)
        for k in ("true", "false")
        for ids in [integers(f"nodes_{k}nodeids")]
    ]
    targets = node.int("n_targets")
    weights = np.zeros((count + leaves, targets))
    weights[own, integers("leaf_targetids")] = leaf_weights
    voted = np.zeros(weights.shape, np.bool_)
    voted[own, integers("leaf_targetids")] = True
    missing = integers("nodes_missing_value_tracks_true")
    missing = np.zeros(count) if missing.size == 0 else missing
    trees = Trees(
        features=np.append(integers("nodes_featureids"), np.zeros(leaves, np.int64)),
        splits=np.append(splits.astype(np.float64), np.zeros(leaves)),
        modes=modes + ["LEAF"] * leaves,
        true=children[0],
        false=children[1],
        missing=np.append(missing, np.zeros(leaves)) != 0,
        members=members_of(modes, tensor("membership_values")),
        roots=integers("tree_roots"),
        weights=weights,
        voted=voted,
    )
    x = input_of(node, splits.dtype == np.float64)
    y = trees.aggregated(x, AGGREGATIONS[node.int("aggregate_function", 1)])
    return transformed(y, TRANSFORMS[node.int("post_transform")])


def members_of(modes: Sequence[str], values: Array) -> Mapping[int, Sequence[float]]:
    """Return the sets of the nodes of mode MEMBER, which NaN separates in `values`."""
    sets: list[list[float]] = [[]]
    for value in values.tolist():
        if value != value:
            sets.append([])
        else:
            sets[-1].append(value)
    of_nodes = iter(sets)
    return {i: next(of_nodes, list[float]()) for i, mode in enumerate(modes) if mode == "MEMBER"}


# TreeEnsembleRegressor and TreeEnsembleClassifier


def old_trees(node: Node, kind: str, targets: int) -> Trees:
    """Return the trees of an operator before opset 5 of ai.onnx.ml; `kind` is the prefix of the
    attributes of weights."""
    ids = zip(node.ints("nodes_treeids") or [], node.ints("nodes_nodeids") or [], strict=True)
    index = {pair: i for i, pair in enumerate(ids)}
    owners = [tree for tree, _ in index]
    modes = [mode.removeprefix("BRANCH_") for mode in node.strings("nodes_modes")]
    if unknown := {*modes} - {*MODES}:
        raise Unsupported(f"nodes of mode {', '.join(sorted(unknown))}")
    children: list[Array] = []
    try:
        for name in ("nodes_truenodeids", "nodes_falsenodeids"):
            pairs = zip(owners, node.ints(name) or [], modes, strict=True)
            children.append(
                np.array(
                    [
                        i if mode == "LEAF" else index[tree, child]
                        for i, (tree, child, mode) in enumerate(pairs)
                    ]
                )
            )
        weights = np.zeros((len(modes), targets))
        voted = np.zeros(weights.shape, np.bool_)
        lists = [node.ints(f"{kind}_{part}") or [] for part in ("treeids", "nodeids", "ids")]
        for *place, target, weight in zip(*lists, numbers(node, f"{kind}_weights"), strict=True):
            at = index[place[0], place[1]]
            weights[at, target] += weight
            voted[at, target] = True
    except (KeyError, IndexError) as error:
        raise Unsupported(f"a tree without node {error}") from None
    missing = node.ints("nodes_missing_value_tracks_true") or [0] * len(modes)
    roots = sorted({tree: i for i, tree in reversed([*enumerate(owners)])}.values())
    features = np.asarray(node.ints("nodes_featureids"), np.int64)
    return Trees(
        features=np.where(np.array(modes) == "LEAF", 0, features),
        splits=np.asarray(numbers(node, "nodes_values"), np.float64),
        modes=modes,
        true=children[0],
        false=children[1],
        missing=np.asarray(missing) != 0,
        members={},
        roots=np.asarray(roots, np.int64),
        weights=weights,
        voted=voted,
    )


def numbers(node: Node, name: str) -> Sequence[float]:
    """Return an attribute of floats, or the tensor that may stand in its place."""
    if (tensor := node.tensor(f"{name}_as_tensor")) is not None and tensor.dims:
        return numpy_helper.to_array(tensor).tolist()
    return node.floats(name) or []


def is_wide(node: Node) -> bool:
    """Return whether the splits are f64."""
    tensor = node.tensor("nodes_values_as_tensor")
    return tensor is not None and bool(tensor.dims)


def tree_regressor(node: Node) -> Expression:
    trees = old_trees(node, "target", node.int("n_targets", 1))
    x = input_of(node, is_wide(node))
    kinds: Mapping[str, str] = {name: name for name in AGGREGATIONS}
    y = trees.aggregated(x, node.choice("aggregate_function", kinds, "SUM"))
    if base := numbers(node, "base_values"):
        y = y + constant(node, np.asarray(base), y.element)
    return transformed(y, node.string("post_transform", "NONE")).cast(f32)


def tree_classifier(node: Node) -> Sequence[SSAValue]:
    """Convert TreeEnsembleClassifier; with two classes and the weights of one, its score and
    the complement are the results."""
    count = len(node.ints("classlabels_int64s") or node.strings("classlabels_strings"))
    trees = old_trees(node, "class", count)
    x = input_of(node, is_wide(node))
    post, base = node.string("post_transform", "NONE"), list(numbers(node, "base_values"))
    y = trees.aggregated(x, "SUM")
    used = sorted(set(node.ints("class_ids") or []))
    if count == 2:
        if used != [0]:
            raise Unsupported("two classes of which not the first alone has weights")
        place, scores = binary_scores(trees, y.slice(1, 0, 1), post, base)
    else:
        if base:
            if len(base) != count:
                raise Unsupported(f"{len(base)} base values for {count} classes")
            y = y + constant(node, np.asarray(base), y.element)
        place, scores = y.op("argmax", axis=1), transformed(y, post)
    labels = labels_at(node, place, "classlabels_int64s", "classlabels_strings")
    return [labels, scores.cast(f32).value]


def binary_scores(
    trees: Trees, y: Expression, post: str, base: Sequence[float]
) -> tuple[Expression, Expression]:
    """Return the class, 0 or 1, and both scores; weights that are all positive are
    probabilities."""
    if len(base) > 1:
        raise Unsupported("two base values for the weights of one class")
    if base:
        y = y + base[0]
    positive = bool((trees.weights >= 0).all())
    place = (y > (0.5 if positive else 0.0)).cast(i64).squeeze(1)
    if post == "PROBIT":
        raise Unsupported("post_transform = 'PROBIT' of one class")
    if post == "LOGISTIC":
        return place, (-y).op("sigmoid").concat(y.op("sigmoid"), axis=1)
    if positive:
        return place, (1.0 - y).concat(y, axis=1)
    return place, (-y).concat(y, axis=1)


LABELS = "classlabels_ints", "classlabels_strings"
"""The attributes of linear models and support vector machines that have the labels of classes."""


def labels_at(node: Node, place: Expression, integers: str, strings: str) -> SSAValue:
    """Return the labels of classes at positions, by the names of the attributes that have them.
    Labels that are strings, which relax does not have, stay positions, with a warning."""
    if labels := node.ints(integers):
        if len(labels) == 1:
            return place.value
        return constant(node, np.asarray(labels, np.int64), i64).take(place, 0).value
    if names := node.strings(strings):
        node.warn(f"the labels are strings, so their positions are returned: {', '.join(names)}")
    return place.value


def transformed(y: Expression, post: str) -> Expression:
    """Return scores after the `post_transform` of a classifier or regressor."""
    match post:
        case "NONE":
            return y
        case "SOFTMAX":
            return y.op("nn.softmax", axis=-1)
        case "LOGISTIC":
            return y.op("sigmoid")
        case "SOFTMAX_ZERO":
            zero = y.equals(0.0)
            shifted = y - y.max(-1, keepdims=True)
            powers = zero.where(0.0, shifted.op("exp"))
            total = powers.sum(-1, keepdims=True)
            return powers / total.equals(0.0).where(1.0, total)
        case _:
            raise Unsupported(f"post_transform = '{post}'")


TREES: Converters = {
    "TreeEnsemble": tree_ensemble,
    "TreeEnsembleClassifier": tree_classifier,
    "TreeEnsembleRegressor": tree_regressor,
}
