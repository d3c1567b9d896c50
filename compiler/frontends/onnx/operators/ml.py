"""Converters of ai.onnx.ml but for trees: encoders, linear models, support vectors, n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from onnx import numpy_helper
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from .....dialects.relax.types import Element, Float
from ....interpreters.arrays import Array
from ..errors import Unsupported
from ..node import Converters, Node
from ..types import element_type
from .control import while_loop
from .expression import Expression, constant, formula, inputs, total
from .trees import LABELS, TREES, labels_at, transformed

# Converters of support vector machines.


def svm_regressor(node: Node) -> Expression:
    x = Expression(node, node.input(0)).cast(f32)
    coefficients = np.asarray(node.floats("coefficients") or [], np.float32)
    if (count := node.int("n_supports")) > 0:
        products = kernel(node, x, vectors(node, count))
        y = products @ constant(node, coefficients.reshape(-1, 1), f32)
    else:
        y = x @ constant(node, coefficients.reshape(-1, 1), f32)
    y = y + (node.floats("rho") or [0.0])[0]
    if node.int("one_class"):
        y = (y > 0.0).where(1.0, y.scalar(-1))
    return transformed(y, node.string("post_transform", "NONE"))


def vectors(node: Node, count: int) -> Array:
    """Return the support vectors."""
    numbers = np.asarray(node.floats("support_vectors") or [], np.float32)
    if not numbers.size or numbers.size % count:
        raise Unsupported(f"{numbers.size} numbers in {count} support vectors")
    return numbers.reshape(count, -1)


def kernel(node: Node, x: Expression, support: Array) -> Expression:
    """Return the kernel function of each row of x and each support vector."""
    kinds = {name: name for name in ("LINEAR", "POLY", "RBF", "SIGMOID")}
    kind = node.choice("kernel_type", kinds, "LINEAR")
    gamma, offset, degree = [*(node.floats("kernel_params") or []), 0.0, 0.0, 0.0][:3]
    if kind == "RBF":
        distance = x.expand(1) - constant(node, support, f32)
        return ((distance * distance).sum(-1) * -gamma).op("exp")
    products = x @ constant(node, support.transpose(), f32)
    if kind == "LINEAR":
        return products
    products = products * gamma + offset
    return products.op("tanh") if kind == "SIGMOID" else products.op("power", float(degree))


def svm_classifier(node: Node) -> Sequence[SSAValue]:
    """Convert SVMClassifier: one machine for each pair of classes, which vote."""
    x = Expression(node, node.input(0)).cast(f32)
    sizes = node.ints("vectors_per_class") or []
    if not sizes:
        raise Unsupported("a machine without support vectors")
    count, classes = sum(sizes), len(sizes)
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    products = kernel(node, x, vectors(node, count))
    scores = products @ constant(node, pair_weights(node, sizes, pairs), f32)
    scores = scores + for_pairs(node, "rho", len(pairs))
    votes = np.zeros((2, len(pairs), classes), np.float32)
    for k, (i, j) in enumerate(pairs):
        votes[0, k, i], votes[1, k, j] = 1, 1
    ahead = (scores > 0.0).cast(f32)
    counts = ahead @ constant(node, votes[0], f32) + (1.0 - ahead) @ constant(node, votes[1], f32)
    place = counts.op("argmax", axis=1)
    return [labels_at(node, place, *LABELS), class_scores(node, scores, classes).value]


def pair_weights(node: Node, sizes: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Array:
    """Return the coefficient of each support vector in the machine of each pair of classes."""
    count, ends = sum(sizes), np.cumsum(sizes)
    coefficients = np.asarray(node.floats("coefficients") or [], np.float32)
    coefficients = coefficients.reshape(len(sizes) - 1, count)
    weights = np.zeros((count, len(pairs)), np.float32)
    for k, (i, j) in enumerate(pairs):
        one, other = slice(ends[i] - sizes[i], ends[i]), slice(ends[j] - sizes[j], ends[j])
        weights[one, k] = coefficients[j - 1, one]
        weights[other, k] = coefficients[i, other]
    return weights


def for_pairs(node: Node, name: str, pairs: int) -> Expression:
    """Return an attribute that has a number for each pair of classes."""
    numbers = node.floats(name) or []
    if len(numbers) != pairs:
        raise Unsupported(f"{len(numbers)} numbers in {name} for {pairs} pairs of classes")
    return constant(node, np.asarray(numbers), f32)


def class_scores(node: Node, scores: Expression, classes: int) -> Expression:
    """Return the second result of a classifier, given the scores of pairs of classes: these, or
    the probabilities of the classes."""
    post = node.string("post_transform", "NONE")
    if node.floats("prob_a"):
        pairs = classes * (classes - 1) // 2
        ahead = scores * for_pairs(node, "prob_a", pairs) + for_pairs(node, "prob_b", pairs)
        ahead = (-ahead).op("sigmoid")
        return transformed(coupled(ahead.op("clip", min=1e-7, max=1 - 1e-7), classes), post)
    if classes > 2:
        return transformed(scores, post)
    if post not in ("NONE", "LOGISTIC"):
        raise Unsupported(f"post_transform = '{post}' of two classes")
    return transformed((-scores).concat(scores, axis=1), post)


MIN_LIMIT = 100
"""The steps after which the search for probabilities ends, or one a class if that is more."""


def coupled(ahead: Expression, classes: int) -> Expression:
    """Return the probabilities of classes, given r[i, j], the probability of class i where it is i
    or j: the p that minimizes the sum of (r[j, i] p[i] - r[i, j] p[j])^2.

    It is found as libsvm finds it, class by class, and each row has its own number of steps: the
    result is exact to 0.005 only. Source: Wu, Lin and Weng, "Probability estimates for multi-class
    classification by pairwise coupling", 2004, algorithm 2.
    """
    node = ahead.node
    places = np.full((classes, classes), 2 * (count := classes * (classes - 1) // 2))
    upper = np.triu_indices(classes, 1)
    places[upper], places.T[upper] = np.arange(count), np.arange(count, 2 * count)
    both = ahead.concat(1.0 - ahead, ahead.slice(1, 0, 1) * 0.0, axis=1)
    r = both.take(constant(node, places.reshape(-1), i64), 1).reshape(-1, classes, classes)
    diagonal = (r * r).sum(1)
    own = constant(node, np.eye(classes), f32)
    q = diagonal.expand(2) * own - r * r.transpose(0, 2, 1)

    def step(_: SSAValue, carried: Sequence[SSAValue]):
        p = old = Expression(node, carried[0])
        qp = (q * p.expand(1)).sum(2)
        pqp = (p * qp).sum(1, keepdims=True)
        goes_on = (qp - pqp).op("abs").max(1, keepdims=True) >= 0.005 / classes
        for t in range(classes):
            d, qpt = diagonal.slice(1, t, t + 1), qp.slice(1, t, t + 1)
            change = (pqp - qpt) / d
            whole = change + 1.0
            pqp = (pqp + change * (change * d + 2.0 * qpt)) / whole / whole
            qp = (qp + change * q.at(1, t)) / whole
            p = (p + change * own.slice(0, t, t + 1)) / whole
        none: list[SSAValue] = []
        return goes_on.op("any").value, [goes_on.where(p, old).value], none

    # Not `diagonal * 0`: a row with NaN has equal probabilities, as it has in onnxruntime.
    start = (diagonal > 0.0).cast(f32) * 0.0 + 1 / classes
    limit = node.full(max(MIN_LIMIT, classes), i64)
    (result,) = while_loop(node, limit, None, [start.value], step)
    return Expression(node, result)


SVM: Converters = {"SVMClassifier": svm_classifier, "SVMRegressor": svm_regressor}


# Converters of ai.onnx.ml: encoders and linear models.


def array_feature_extractor(node: Node) -> SSAValue:
    """Take the columns at the indices."""
    x, indices = node.input(0), node.cast(node.input(1), i64)
    if node.rank(x) == 1:
        x = node.op("expand_dims", x, axis=[0])
    flat = node.op("reshape", indices, newshape=[-1])
    return node.op("take", x, flat, axis=-1, mode="raise")


def scaler(node: Node) -> Expression:
    """Compute (x - offset) * scale, in f32."""
    x = Expression(node, node.input(0)).cast(f32)
    offset, scale = node.floats("offset") or [0.0], node.floats("scale") or [1.0]
    return (x - vector(node, offset)) * vector(node, scale)


def vector(node: Node, numbers: Sequence[float], element: Element = f32) -> Expression:
    """Return a constant vector; a single number as a scalar."""
    array = np.asarray(numbers if len(numbers) != 1 else numbers[0], np.float64)
    return constant(node, array, element)


def normalizer(node: Node) -> Expression:
    """Divide the rows by their maximum absolute value, or their 1- or 2-norm; a row of zeros is
    left as it is."""
    x = Expression(node, node.input(0)).cast(f32)
    norm = node.choice("norm", {name: name for name in ("MAX", "L1", "L2")}, "MAX")
    if norm == "MAX":
        size = x.max(-1, keepdims=True)
    elif norm == "L1":
        size = x.op("abs").sum(-1, keepdims=True)
    else:
        size = (x * x).sum(-1, keepdims=True).op("sqrt")
    return x / size.equals(0.0).where(1.0, size)


def imputer(node: Node) -> Expression:
    """Replace the elements that are missing, by default NaN, by values, one per column."""
    x = Expression(node, node.input(0))
    if isinstance(x.element, Float):
        values, missing = node.floats("imputed_value_floats"), node.float("replaced_value_float")
    else:
        values, missing = node.ints("imputed_value_int64s"), node.int("replaced_value_int64")
    if not values:
        raise Unsupported("it has no values to impute of the type of its input")
    lost = x.op("isnan") if missing != missing else x.equals(missing)
    return lost.where(vector(node, values, x.element), x)


def feature_vectorizer(node: Node) -> SSAValue:
    """Concatenate the columns of all inputs as f32."""
    parts = [x.cast(f32) for x in inputs(node)]
    parts = [x.expand(0) if x.rank == 1 else x.reshape(0, -1) for x in parts]
    sizes = node.ints("inputdimensions") or [x.shape[1] for x in parts]
    if [x.shape[1] for x in parts] != sizes:
        raise Unsupported(f"inputdimensions = {sizes}")
    first, *others = parts
    return first.concat(*others, axis=1).value if others else first.value


def one_hot_encoder(node: Node) -> Expression:
    """Compare each element with each category, as f32; without `zeros`, an element that is none of
    them is an error at run time."""
    x = Expression(node, node.input(0))
    if (categories := node.ints("cats_int64s")) is None:
        raise Unsupported("categories that are strings")
    table = constant(node, np.array(categories, np.int64), i64)
    hits = x.cast(i64).expand(x.rank).equals(table)
    if not node.int("zeros", 1):
        place = hits.cast(i64).op("argmax", axis=-1)
        place = hits.op("any", axis=[-1]).where(place, place.scalar(len(categories)))
        numbers = constant(node, np.arange(len(categories)), i64)
        found = numbers.op("take", place, axis=0, mode="raise")
        hits = found.expand(x.rank).equals(numbers)
    return hits.cast(f32)


# Labels

_KEYS = {"int64s": i64, "floats": f32}


def label_encoder(node: Node) -> Expression:
    """Map numbers to numbers; others become the default."""
    x = Expression(node, node.input(0))
    keys, _ = numbers_of(node, "keys")
    values, element = numbers_of(node, "values")
    if keys.shape != values.shape or not keys.size:
        raise Unsupported(f"{keys.size} keys and {values.size} values")
    if (tensor := node.tensor("default_tensor")) is not None:
        default = numpy_helper.to_array(tensor).item()
    elif isinstance(element, Float):
        default = node.float("default_float", -0.0)
    else:
        default = node.int("default_int64", -1)
    hits = x.expand(x.rank).equals(constant(node, keys, x.element))
    if node.opset >= 4 and isinstance(x.element, Float) and np.isnan(keys.astype(np.float64)).any():
        both = constant(node, np.isnan(keys), hits.element) & x.op("isnan").expand(x.rank)
        hits = hits | both
    place = hits.cast(i64).op("argmax", axis=-1, select_last_index=True)
    found = constant(node, values, element).take(place, 0)
    return hits.op("any", axis=[-1]).where(found, default)


def numbers_of(node: Node, name: str) -> tuple[Array, Element]:
    """Return the keys or the values of a label encoder, and their element type."""
    for kind, element in _KEYS.items():
        if node.given(f"{name}_{kind}"):
            numbers = (
                node.ints(f"{name}_{kind}") if element == i64 else node.floats(f"{name}_{kind}")
            )
            return np.asarray(numbers), element
    if (tensor := node.tensor(f"{name}_tensor")) is not None and tensor.dims:
        return numpy_helper.to_array(tensor).reshape(-1), element_type(tensor.data_type)
    raise Unsupported(f"{name} that are strings")


# Linear models


def linear_regressor(node: Node) -> Expression:
    x, count = Expression(node, node.input(0)).cast(f32), node.int("targets", 1)
    y = linear(node, x, count)
    return transformed(y, node.string("post_transform", "NONE"))


def linear(node: Node, x: Expression, count: int) -> Expression:
    """Return x times the coefficients, plus the intercepts."""
    coefficients = np.asarray(node.floats("coefficients") or [], np.float32)
    if x.rank == 1:
        x = x.expand(0)
    if coefficients.size == 0 or coefficients.size % count:
        raise Unsupported(f"{coefficients.size} coefficients for {count} results")
    y = x @ constant(node, coefficients.reshape(count, -1).transpose(), f32)
    intercepts = node.floats("intercepts")
    return y + constant(node, np.asarray(intercepts), f32) if intercepts else y


def class_count(node: Node) -> int:
    """Return the number of labels."""
    integers, strings = LABELS
    return len(node.ints(integers) or node.strings(strings))


def linear_classifier(node: Node) -> Sequence[SSAValue]:
    x = Expression(node, node.input(0)).cast(f32)
    count = len(node.floats("intercepts") or [])
    known = class_count(node)
    scores = linear(node, x, count or known)
    post = node.string("post_transform", "NONE")
    if count == 1:
        place = (scores > 0.0).cast(i64).squeeze(1)
        if known == 2:
            scores = transformed(scores, post) if post == "LOGISTIC" else scores
            scores = (1.0 - scores).concat(scores, axis=1)
        else:
            scores = transformed(scores, post)
    else:
        place = scores.op("argmax", axis=1)
        scores = transformed(scores, post)
    return [labels_at(node, place, *LABELS), scores.value]


def zip_map(node: Node) -> SSAValue:
    """Return the scores of classes as they are, in the order of the classes: relax has no maps."""
    names = node.strings("classlabels_strings") or node.ints("classlabels_int64s") or []
    text = ", ".join(map(str, names))
    node.warn(f"a tensor is returned in place of maps; its columns are the classes {text}")
    return node.input(0)


ML: Converters = {
    "ArrayFeatureExtractor": array_feature_extractor,
    "Binarizer": formula(lambda x: (x > x.node.float("threshold")).cast(x.element)),
    "FeatureVectorizer": feature_vectorizer,
    "Imputer": imputer,
    "LabelEncoder": label_encoder,
    "LinearClassifier": linear_classifier,
    "LinearRegressor": linear_regressor,
    "Normalizer": normalizer,
    "OneHotEncoder": one_hot_encoder,
    "Scaler": scaler,
    "ZipMap": zip_map,
    **SVM,
    **TREES,
}


# Converter of TfIdfVectorizer: the counts of n-grams of integers.


def tf_idf(node: Node) -> Expression:
    """Convert TfIdfVectorizer: compare all windows of the input with all n-grams of the pool."""
    x = Expression(node, node.input(0))
    pool = node.ints("pool_int64s")
    if pool is None:
        raise Unsupported("n-grams of strings")
    starts, places = node.ints("ngram_counts") or [], node.ints("ngram_indexes") or []
    size = max(places, default=-1) + 1
    minimum, maximum = node.int("min_gram_length"), node.int("max_gram_length")
    skips = node.int("max_skip_count")
    terms: list[Expression] = []
    first = 0
    for n, (start, end) in enumerate(zip(starts, [*starts[1:], len(pool)], strict=True), 1):
        grams = np.array(pool[start:end], np.int64).reshape(-1, n)
        targets = places[first : first + len(grams)]
        first += len(grams)
        if not minimum <= n <= maximum or not len(grams):
            continue
        counts = counted(x, grams, skips if n > 1 else 0)
        if counts is not None:
            selection = np.zeros((len(grams), size))
            selection[np.arange(len(grams)), targets] = 1
            terms.append(counts @ constant(node, selection, f32))
    shape = (*x.shape[:-1], size)
    y = total(terms) if terms else Expression(node, node.full(0, f32, shape))
    mode = node.choice("mode", {"TF": "TF", "IDF": "IDF", "TFIDF": "TFIDF"}, "TF")
    if mode != "TF":
        weights = np.ones(size)
        if (given := node.floats("weights")) is not None:
            weights[np.array(places)] = given
        if mode == "IDF":
            y = (y > 0.0).cast(f32)
        y = y * constant(node, weights, f32)
    return y


def counted(x: Expression, grams: np.ndarray[tuple[int, ...], np.dtype[np.int64]], skips: int):
    """Return how often each of these n-grams occurs in the rows of x, [..., n-grams], with up to
    `skips` elements left out between two; None if the rows are too short for any."""
    node, length = x.node, x.shape[-1]
    node.static_shape(x.value)
    n = grams.shape[1]
    found: list[Expression] = []
    for step in range(1, skips + 2):
        if (count := length - (n - 1) * step) < 1:
            break
        windows = (x.slice(-1, k * step, k * step + count).expand(-1) for k in range(n))
        hits = (w.equals(constant(node, grams[:, k], x.element)) for k, w in enumerate(windows))
        found.append(reduce(Expression.__and__, hits).cast(f32).sum(-2))
    return total(found) if found else None


NGRAMS: Converters = {"TfIdfVectorizer": tf_idf}
