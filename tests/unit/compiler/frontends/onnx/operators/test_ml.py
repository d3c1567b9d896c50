"""The operators of ai.onnx.ml on numbers, beside onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx.numpy_helper import from_array
from support.models.from_text import Array, imported, run
from support.models.single_node import Attributes, by_onnxruntime, check, single_node

import passline
from passline.compiler.frontends.onnx import UnsupportedModelError, import_model
from passline.passmanager.errors import PasslineError

RANDOM = np.random.default_rng(0)


def floats(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def compare(op: str, *inputs: Array, version: int = 3, outputs: int = 1, **attributes: Any):
    """Compare a node with onnxruntime, with a known and with an unknown number of rows."""
    domain, unknown = "ai.onnx.ml", {0: [0]}
    check(
        op,
        *inputs,
        domain=domain,
        version=version,
        outputs=outputs,
        unknown=unknown,
        **attributes,
    )


X = floats(5, 3)


def test_features():
    compare("ArrayFeatureExtractor", X, np.array([2, 0]))
    compare("Binarizer", X, threshold=0.2)
    compare("FeatureVectorizer", X, floats(5, 2), inputdimensions=[3, 2])
    compare("OneHotEncoder", np.array([[1, 2], [3, 9]]), cats_int64s=[3, 1, 2])


def test_an_unknown_category_is_an_error_without_zeros():
    given: Attributes = {"cats_int64s": [3, 1, 2], "zeros": 0}
    known = np.array([[1, 2], [3, 3]])
    compare("OneHotEncoder", known, **given)
    module = imported(single_node("OneHotEncoder", [known], domain="ai.onnx.ml", **given))
    with pytest.raises(PasslineError, match="out of bounds"):
        run(passline.optimize(module, level=3), known + 1)


def test_scaler():
    compare("Scaler", X, offset=[0.1, 0.2, 0.3], scale=[1.0, 2.0, 3.0])
    compare("Scaler", np.array([[1, 2, 3]]), offset=[0.5], scale=[2.0])


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_normalizer(norm: str):
    compare("Normalizer", np.concatenate([X, -abs(X), np.zeros((1, 3), np.float32)]), norm=norm)


def test_imputer():
    x, nan = X.copy(), float("nan")
    x[0, 1] = nan
    for values in ([9.0], [9.0, 8.0, 7.0]):
        compare("Imputer", x, imputed_value_floats=values, replaced_value_float=nan)
    whole = np.array([[1, 0], [0, 3]])
    compare("Imputer", whole, imputed_value_int64s=[5, 6], replaced_value_int64=0)


def test_label_encoder():
    keys, x = [1, 2, 3], np.array([1, 2, 3, 7])
    values = [0.1, 0.2, 0.3]
    compare("LabelEncoder", x, keys_int64s=keys, values_floats=values, default_float=9.0)
    compare("LabelEncoder", x, keys_int64s=keys, values_int64s=[5, 6, 7])
    numbers = np.array([1, np.nan, 3], np.float32)
    given: Attributes = {"keys_floats": [1.0, float("nan")], "values_int64s": [5, 6]}
    compare("LabelEncoder", numbers, version=2, **given)
    compare("LabelEncoder", numbers, version=4, **given)


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
def test_linear_models(post: str):
    coefficients = [0.1, 0.2, 0.3, 0.4, -0.5, 0.6, 0.7, 0.8, -0.9]
    for count in (1, 2, 3):
        given: Attributes = {"coefficients": coefficients[: 3 * count], "post_transform": post}
        labels = [3, 5, 8][: max(count, 2)]
        intercepts = [0.1, 0.2, 0.3][:count]
        compare(
            "LinearClassifier",
            X,
            outputs=2,
            intercepts=intercepts,
            classlabels_ints=labels,
            **given,
        )
        if count > 1:
            compare("LinearRegressor", X, intercepts=intercepts, targets=count, **given)
    compare("LinearRegressor", X, coefficients=[0.1, 0.2, 0.3])


KERNELS: list[tuple[str, list[float]]] = [
    ("LINEAR", [0.0, 0.0, 0.0]),
    ("POLY", [0.5, 0.3, 3.0]),
    ("RBF", [0.4, 0.0, 3.0]),
    ("SIGMOID", [0.4, 0.1, 3.0]),
]


@pytest.mark.parametrize(("kernel", "parameters"), KERNELS)
def test_support_vector_machines(kernel: str, parameters: list[float]):
    given: Attributes = {
        "kernel_type": kernel,
        "kernel_params": parameters,
        "support_vectors": floats(12).tolist(),
    }
    regressor: Attributes = {
        **given,
        "coefficients": [0.1, -0.2, 0.3, 0.4],
        "n_supports": 4,
        "rho": [0.25],
    }
    for one_class in (0, 1):
        compare("SVMRegressor", X, one_class=one_class, **regressor)
    classifier: Attributes = {**given, "coefficients": floats(8).tolist(), "rho": [0.25, 0.1, -0.2]}
    sizes: Attributes = {"vectors_per_class": [1, 2, 1], "classlabels_ints": [0, 1, 2]}
    compare("SVMClassifier", X, outputs=2, **classifier, **sizes)
    classifier = {**given, "coefficients": floats(4).tolist(), "rho": [0.25]}
    sizes = {"vectors_per_class": [2, 2], "classlabels_ints": [4, 9]}
    for post in ("NONE", "LOGISTIC"):
        compare("SVMClassifier", X, outputs=2, post_transform=post, **classifier, **sizes)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_probabilities_of_support_vector_machines(classes: int):
    pairs = classes * (classes - 1) // 2
    support, features = classes * 2, X.shape[1]
    given: Attributes = {
        "kernel_type": "RBF",
        "kernel_params": [0.4, 0.0, 3.0],
        "support_vectors": floats(support * features).tolist(),
        "coefficients": floats(support * (classes - 1)).tolist(),
        "rho": floats(pairs).tolist(),
        "vectors_per_class": [2] * classes,
        "classlabels_ints": [*range(classes)],
        "prob_a": (-3 * np.abs(floats(pairs))).tolist(),
        "prob_b": floats(pairs).tolist(),
    }
    for post in ("NONE", "LOGISTIC", "SOFTMAX"):
        compare("SVMClassifier", X, outputs=2, post_transform=post, **given)
    unknown = X.copy()
    unknown[1, 0] = np.nan
    compare("SVMClassifier", unknown, outputs=2, **given)
    given["prob_a"] = [-1e3] * pairs
    compare("SVMClassifier", X, outputs=2, **given)


@pytest.mark.parametrize("name", ["rho", "prob_a", "prob_b"])
def test_a_number_for_each_pair_of_classes(name: str):
    given: Attributes = {
        "kernel_type": "LINEAR",
        "support_vectors": floats(12).tolist(),
        "coefficients": floats(8).tolist(),
        "vectors_per_class": [1, 2, 1],
        "classlabels_ints": [0, 1, 2],
        **{key: [0.5] * (1 if key == name else 3) for key in ("rho", "prob_a", "prob_b")},
    }
    model = single_node("SVMClassifier", [X], 2, domain="ai.onnx.ml", version=3, **given)
    with pytest.raises(UnsupportedModelError, match=f"1 numbers in {name} for 3 pairs of classes"):
        imported(model)


# Trees


class Trees:
    """Random trees, as the attributes of a node."""

    def __init__(self, seed: int, modes: Sequence[str], targets: int, kind: str) -> None:
        self.random = np.random.default_rng(seed)
        self.modes = modes
        self.targets = targets
        parts = "treeids nodeids featureids values modes truenodeids falsenodeids"
        self.nodes: dict[str, list[object]] = {key: [] for key in parts.split()}
        self.nodes["missing_value_tracks_true"] = []
        self.leaves: dict[str, list[object]] = {
            key: [] for key in ("treeids", "nodeids", "ids", "weights")
        }
        self.kind = kind
        for tree in range(3):
            self.numbers = iter(range(100))
            self.add(tree, 3)

    def number(self) -> float:
        return float(np.float32(self.random.standard_normal()))

    def add(self, tree: int, depth: int) -> int:
        """Add a node and those below it; return its number in the tree."""
        place, number = len(self.nodes["treeids"]), next(self.numbers)
        leaf = depth == 0 or (number > 0 and self.random.random() < 0.2)
        mode = "LEAF" if leaf else str(self.random.choice(self.modes))
        values = (tree, number, int(self.random.integers(3)), self.number(), mode, 0, 0)
        for key, value in zip(self.nodes, (*values, int(self.random.integers(2))), strict=True):
            self.nodes[key].append(value)
        if not leaf:
            self.nodes["truenodeids"][place] = self.add(tree, depth - 1)
            self.nodes["falsenodeids"][place] = self.add(tree, depth - 1)
        for target in range(self.targets) if leaf else ():
            if self.targets == 1 or self.random.random() < 0.8:
                weight = (tree, number, target, self.number())
                for key, value in zip(self.leaves, weight, strict=True):
                    self.leaves[key].append(value)
        return number

    def attributes(self) -> Attributes:
        nodes = {f"nodes_{key}": values for key, values in self.nodes.items()}
        return {**nodes, **{f"{self.kind}_{key}": v for key, v in self.leaves.items()}}


def trees(
    seed: int, modes: Sequence[str] = ("BRANCH_LEQ",), targets: int = 1, kind: str = "target"
) -> Attributes:
    return Trees(seed, modes, targets, kind).attributes()


ROWS = floats(20, 3)
MODES = [f"BRANCH_{mode}" for mode in ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ")]


@pytest.mark.parametrize("modes", [*([mode] for mode in MODES), MODES], ids=str)
def test_modes_of_trees(modes: list[str]):
    compare("TreeEnsembleRegressor", ROWS, n_targets=1, **trees(1, modes))


@pytest.mark.parametrize("modes", [*([mode] for mode in MODES), MODES], ids=str)
def test_splits_of_any_kind(modes: list[str]):
    """Infinite splits, NaN, zeros of both signs, and neighbours; the same numbers as data."""
    least = np.nextafter(np.float32(0), np.float32(1))
    kinds = [np.nan, -np.inf, np.inf, -0.0, 0.0, least, 1.0, np.nextafter(np.float32(1), 0)]
    rows = np.array([[a, b, c] for a in kinds for b in kinds for c in (0.5, np.nan)], np.float32)
    for seed in range(4):
        given = trees(seed, modes)
        values = np.random.default_rng(seed).choice(np.array(kinds), len(given["nodes_values"]))
        given["nodes_values"] = [float(value) for value in values]
        compare("TreeEnsembleRegressor", rows, n_targets=1, **given)


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("members", [[0.0], [1.0, 2.0], [3.0, 1.0, 2.0], [1.0, 2.0, 4.0, 5.0, 7.0]])
def test_sets_of_members(members: list[float], missing: int):
    """A node asks for a set, and its children ask for 0 and for 2."""
    rows = np.array([[x] for x in (*range(-1, 9), 1.5, -0.0, np.inf, np.nan)], np.float32)
    tables: dict[str, Array] = {
        "nodes_modes": np.full(3, 6, np.uint8),
        "nodes_splits": np.zeros(3, np.float32),
        "membership_values": np.array([*members, np.nan, 0, np.nan, 2, np.nan], np.float32),
        "leaf_weights": np.array([1, 2, 4, 8], np.float32),
    }
    given: Attributes = {name: from_array(table) for name, table in tables.items()}
    compare(
        "TreeEnsemble",
        rows,
        version=5,
        n_targets=1,
        tree_roots=[0],
        nodes_featureids=[0] * 3,
        nodes_trueleafs=[0, 1, 1],
        nodes_truenodeids=[1, 0, 2],
        nodes_falseleafs=[0, 1, 1],
        nodes_falsenodeids=[2, 1, 3],
        nodes_missing_value_tracks_true=[missing] * 3,
        leaf_targetids=[0] * 4,
        **given,
    )


@pytest.mark.parametrize("aggregation", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_aggregation_of_trees(aggregation: str):
    given: Attributes = {
        "aggregate_function": aggregation,
        "base_values": [0.5, -0.5],
        "n_targets": 2,
    }
    compare("TreeEnsembleRegressor", ROWS, **given, **trees(2, targets=2))


def test_missing_values_of_trees():
    rows = ROWS.copy()
    rows[::3, 0] = rows[1::3, 1] = np.nan
    compare("TreeEnsembleRegressor", rows, n_targets=1, **trees(4))


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
def test_tree_classifier(post: str):
    given: Attributes = {"outputs": 2, "post_transform": post}
    several = trees(5, targets=3, kind="class")
    compare("TreeEnsembleClassifier", ROWS, classlabels_int64s=[3, 4, 9], **several, **given)
    for positive in (False, True):
        one = trees(6, kind="class")
        if positive:
            weights = np.array(one["class_weights"])
            one["class_weights"] = abs(weights / 3).tolist()
        bases: list[Attributes] = [{}, {"base_values": [0.1]}]
        for base in bases:
            labels = [3, 4]
            compare(
                "TreeEnsembleClassifier",
                ROWS,
                classlabels_int64s=labels,
                **one,
                **given,
                **base,
            )


def test_trees_of_one_leaf():
    given = {key: [values[0]] for key, values in Trees(1, MODES[:1], 1, "target").nodes.items()}
    nodes: Attributes = {f"nodes_{key}": values for key, values in given.items()}
    nodes["nodes_modes"] = ["LEAF"]
    leaf: Attributes = {f"target_{key}": [0] for key in ("treeids", "nodeids", "ids")}
    compare("TreeEnsembleRegressor", ROWS, n_targets=1, target_weights=[0.5], **nodes, **leaf)


def test_deep_trees():
    """A chain of 300 nodes, each of which has a leaf."""
    count, ids = 300, [*range(601)]
    inner = [i % 2 == 0 and i < 600 for i in ids]
    compare(
        "TreeEnsembleRegressor",
        ROWS * 200,
        n_targets=1,
        nodes_treeids=[0] * 601,
        nodes_nodeids=ids,
        nodes_featureids=[0] * 601,
        nodes_modes=["BRANCH_LEQ" if each else "LEAF" for each in inner],
        nodes_values=[float(i / 2 - count / 2) for i in ids],
        nodes_truenodeids=[i + 1 if each else 0 for i, each in zip(ids, inner, strict=True)],
        nodes_falsenodeids=[i + 2 if each else 0 for i, each in zip(ids, inner, strict=True)],
        target_treeids=[0] * 301,
        target_ids=[0] * 301,
        target_nodeids=[i for i, each in zip(ids, inner, strict=True) if not each],
        target_weights=[float(i) for i in range(301)],
    )


def test_a_cycle_is_refused():
    given = trees(1)
    given["nodes_truenodeids"] = [0] * len(given["nodes_truenodeids"])
    domain = "ai.onnx.ml"
    node = "TreeEnsembleRegressor"
    model = single_node(node, [ROWS], domain=domain, version=3, n_targets=1, **given)
    with pytest.raises(UnsupportedModelError, match="a cycle"):
        imported(model)


def test_wrong_trees_are_refused():
    for change in ({"nodes_truenodeids": 99}, {"nodes_featureids": 7}):
        given: Attributes = trees(1)
        ((key, value),) = change.items()
        given[key] = [value] * len(Trees(1, MODES[:1], 1, "target").nodes["treeids"])
        model = single_node(
            "TreeEnsembleRegressor",
            [ROWS],
            domain="ai.onnx.ml",
            version=3,
            n_targets=1,
            **given,
        )
        with pytest.raises(UnsupportedModelError, match="a tree"):
            imported(model)


# Labels and maps


@pytest.mark.parametrize("op", ["LinearClassifier", "SVMClassifier", "TreeEnsembleClassifier"])
def test_labels_that_are_strings_stay_positions(op: str):
    """Onnxruntime returns the strings themselves."""
    names = ["red", "green", "blue"]
    key = "classlabels_strings"
    given: Attributes = {key: names}
    match op:
        case "LinearClassifier":
            given |= {"coefficients": floats(9).tolist(), "intercepts": [0.1, 0.2, 0.3]}
        case "SVMClassifier":
            given |= {"support_vectors": floats(12).tolist(), "coefficients": floats(8).tolist()}
            given |= {"rho": [0.25, 0.1, -0.2], "vectors_per_class": [1, 2, 1]}
            given |= {"kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0]}
        case _:
            given |= trees(5, targets=3, kind="class")
    model = single_node(op, [ROWS], 2, domain="ai.onnx.ml", version=3, **given)
    warnings: list[str] = []
    places, scores = run(import_model(model, warn=warnings.append), ROWS)
    labels, expected = by_onnxruntime(model, [ROWS])
    assert [names[place] for place in places] == labels.tolist()
    np.testing.assert_allclose(scores, expected, rtol=2e-5, atol=2e-5)
    text = "the labels are strings, so their positions are returned: red, green, blue"
    assert warnings == [f"node 'y0' ({op}): {text}"]


def test_maps_are_tensors():
    model = single_node("ZipMap", [X], domain="ai.onnx.ml", version=1, classlabels_int64s=[3, 5, 8])
    warnings: list[str] = []
    (y,) = run(import_model(model, warn=warnings.append), X)
    np.testing.assert_array_equal(y, X)
    assert [list(row.values()) for row in by_onnxruntime(model, [X])[0]] == X.tolist()
    text = "a tensor is returned in place of maps; its columns are the classes 3, 5, 8"
    assert warnings == [f"node 'y0' (ZipMap): {text}"]
