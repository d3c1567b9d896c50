# pyright: basic, reportMissingImports=false
"""Export fitted scikit-learn, XGBoost and LightGBM models to ONNX.

    python sklearn_models.py FOLDER [NAME...]

Needs scikit-learn, skl2onnx, onnxmltools, xgboost and lightgbm, and runs in an environment that has
no other part of this project. The number of
rows is unknown in all models, as these exporters have it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from exporting import export_all
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn import (
    calibration,
    cluster,
    compose,
    cross_decomposition,
    decomposition,
    discriminant_analysis,
    ensemble,
    feature_extraction,
    gaussian_process,
    impute,
    linear_model,
    mixture,
    multiclass,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)

Arrays = dict[str, np.ndarray]

ROWS, FEATURES = 200, 8
RNG = np.random.default_rng(0)
DATA = RNG.normal(size=(ROWS, FEATURES)).astype(np.float32)
WEIGHTS = RNG.normal(size=FEATURES)
TARGET = (DATA @ WEIGHTS + 0.1 * RNG.normal(size=ROWS)).astype(np.float32)
CLASSES = np.digitize(TARGET, np.quantile(TARGET, (1 / 3, 2 / 3)))
WORDS = np.array(["red", "green", "blue", "black"])


@dataclass(frozen=True)
class Export:
    """An estimator and what it is fitted to."""

    make: Callable[[], Any]
    target: np.ndarray | None = None
    data: np.ndarray = field(default_factory=lambda: DATA)
    options: dict[str, Any] | None = None
    """Options of skl2onnx for the estimator: `zipmap: False` gives probabilities as a tensor."""


PLAIN = {"zipmap": False}
EXPORTS: dict[str, Export] = {}

for name, make in {
    "logistic_regression": linear_model.LogisticRegression,
    "ridge_classifier": linear_model.RidgeClassifier,
    "sgd_classifier": linear_model.SGDClassifier,
    "perceptron": linear_model.Perceptron,
    "linear_svc": svm.LinearSVC,
    "svc": svm.SVC,
    "nu_svc": svm.NuSVC,
    "decision_tree": tree.DecisionTreeClassifier,
    "random_forest": lambda: ensemble.RandomForestClassifier(50, max_depth=8),
    "extra_trees": lambda: ensemble.ExtraTreesClassifier(50, max_depth=8),
    "gradient_boosting": lambda: ensemble.GradientBoostingClassifier(n_estimators=20),
    "hist_gradient_boosting": lambda: ensemble.HistGradientBoostingClassifier(max_iter=20),
    "ada_boost": lambda: ensemble.AdaBoostClassifier(n_estimators=10),
    "bagging": lambda: ensemble.BaggingClassifier(n_estimators=5),
    "voting": lambda: ensemble.VotingClassifier(
        [("a", linear_model.LogisticRegression()), ("b", naive_bayes.GaussianNB())], voting="soft"
    ),
    "stacking": lambda: ensemble.StackingClassifier(
        [("a", linear_model.LogisticRegression()), ("b", tree.DecisionTreeClassifier(max_depth=3))]
    ),
    "gaussian_nb": naive_bayes.GaussianNB,
    "bernoulli_nb": naive_bayes.BernoulliNB,
    "k_neighbors_classifier": neighbors.KNeighborsClassifier,
    "mlp_classifier": lambda: neural_network.MLPClassifier(max_iter=50),
    "lda": discriminant_analysis.LinearDiscriminantAnalysis,
    "qda": discriminant_analysis.QuadraticDiscriminantAnalysis,
    "one_vs_rest": lambda: multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
}.items():
    options = PLAIN if name not in ("ridge_classifier", "linear_svc", "perceptron") else None
    EXPORTS[name] = Export(make, CLASSES, options=options)
EXPORTS["svc-probability"] = Export(lambda: svm.SVC(probability=True), CLASSES, options=PLAIN)
EXPORTS["svc-linear"] = Export(lambda: svm.SVC(kernel="linear"), CLASSES, options=PLAIN)
EXPORTS["svc-poly"] = Export(lambda: svm.SVC(kernel="poly"), CLASSES, options=PLAIN)
EXPORTS["logistic_regression-zipmap"] = Export(linear_model.LogisticRegression, CLASSES)
EXPORTS["random_forest-words"] = Export(
    lambda: ensemble.RandomForestClassifier(10, max_depth=5), WORDS[CLASSES], options=PLAIN
)
EXPORTS["random_forest-two"] = Export(
    lambda: ensemble.RandomForestClassifier(10, max_depth=5), CLASSES > 1, options=PLAIN
)
for name, make in {
    "linear_regression": linear_model.LinearRegression,
    "ridge": linear_model.Ridge,
    "lasso": linear_model.Lasso,
    "elastic_net": linear_model.ElasticNet,
    "bayesian_ridge": linear_model.BayesianRidge,
    "huber": linear_model.HuberRegressor,
    "poisson": lambda: linear_model.PoissonRegressor(),
    "svr": svm.SVR,
    "linear_svr": svm.LinearSVR,
    "decision_tree_regressor": tree.DecisionTreeRegressor,
    "random_forest_regressor": lambda: ensemble.RandomForestRegressor(50, max_depth=8),
    "gradient_boosting_regressor": lambda: ensemble.GradientBoostingRegressor(n_estimators=20),
    "hist_gradient_boosting_regressor": lambda: ensemble.HistGradientBoostingRegressor(max_iter=20),
    "k_neighbors_regressor": neighbors.KNeighborsRegressor,
    "mlp_regressor": lambda: neural_network.MLPRegressor(max_iter=50),
    "gaussian_process": gaussian_process.GaussianProcessRegressor,
    "pls": lambda: cross_decomposition.PLSRegression(2),
}.items():
    target = np.abs(TARGET) if name == "poisson" else TARGET
    EXPORTS[name] = Export(make, target)
for name, make in {
    "standard_scaler": preprocessing.StandardScaler,
    "min_max_scaler": preprocessing.MinMaxScaler,
    "robust_scaler": preprocessing.RobustScaler,
    "normalizer": preprocessing.Normalizer,
    "binarizer": preprocessing.Binarizer,
    "polynomial_features": preprocessing.PolynomialFeatures,
    "power_transformer": preprocessing.PowerTransformer,
    "k_bins": lambda: preprocessing.KBinsDiscretizer(4, encode="onehot-dense"),
    "simple_imputer": impute.SimpleImputer,
    "pca": lambda: decomposition.PCA(4),
    "incremental_pca": lambda: decomposition.IncrementalPCA(4),
    "truncated_svd": lambda: decomposition.TruncatedSVD(4),
    "k_means": lambda: cluster.KMeans(3),
    "mini_batch_k_means": lambda: cluster.MiniBatchKMeans(3),
    "gaussian_mixture": lambda: mixture.GaussianMixture(3),
    "isolation_forest": lambda: ensemble.IsolationForest(n_estimators=20),
    "one_class_svm": svm.OneClassSVM,
    "local_outlier_factor": lambda: neighbors.LocalOutlierFactor(novelty=True),
}.items():
    EXPORTS[name] = Export(make)
EXPORTS["scaler_pca_regression"] = Export(
    lambda: pipeline.make_pipeline(
        preprocessing.StandardScaler(), decomposition.PCA(4), linear_model.LinearRegression()
    ),
    TARGET,
)
EXPORTS["imputer_scaler_forest"] = Export(
    lambda: pipeline.make_pipeline(
        impute.SimpleImputer(),
        preprocessing.StandardScaler(),
        ensemble.RandomForestClassifier(10, max_depth=4),
    ),
    CLASSES,
    options=PLAIN,
)
NUMBERS = RNG.integers(0, 4, (ROWS, FEATURES))
EXPORTS["one_hot_numbers"] = Export(
    lambda: preprocessing.OneHotEncoder(sparse_output=False, drop="first"), data=NUMBERS
)
EXPORTS["random_trees_embedding"] = Export(
    lambda: ensemble.RandomTreesEmbedding(5, max_depth=3, sparse_output=False)
)
EXPORTS["random_forest-outputs"] = Export(
    lambda: ensemble.RandomForestRegressor(10, max_depth=5), np.stack([TARGET, -TARGET], axis=1)
)
EXPORTS["k_neighbors_regressor-minkowski"] = Export(
    lambda: neighbors.KNeighborsRegressor(3, metric="minkowski", p=3), TARGET
)
EXPORTS["calibrated"] = Export(
    lambda: calibration.CalibratedClassifierCV(svm.LinearSVC(), cv=2), CLASSES, options=PLAIN
)
COLORS = WORDS[RNG.integers(0, 4, (ROWS, 2))].astype(object)
EXPORTS["one_hot_words"] = Export(
    lambda: preprocessing.OneHotEncoder(sparse_output=False), data=COLORS
)
EXPORTS["ordinal_words"] = Export(preprocessing.OrdinalEncoder, data=COLORS)
EXPORTS["one_hot_words_regression"] = Export(
    lambda: pipeline.make_pipeline(
        preprocessing.OneHotEncoder(), linear_model.LogisticRegression()
    ),
    CLASSES,
    COLORS,
    PLAIN,
)
SENTENCES = np.array([" ".join(WORDS[RNG.integers(0, 4, 5)]) for _ in range(ROWS)], dtype=object)
EXPORTS["tfidf"] = Export(lambda: feature_extraction.text.TfidfVectorizer(), CLASSES, SENTENCES)
EXPORTS["count_vectorizer"] = Export(
    lambda: feature_extraction.text.CountVectorizer(), CLASSES, SENTENCES
)


def mixed() -> tuple[Any, Arrays]:
    """A pipeline on columns of numbers and of words."""
    import pandas

    frame = pandas.DataFrame({"size": DATA[:, 0], "weight": DATA[:, 1], "color": COLORS[:, 0]})
    columns = compose.ColumnTransformer(
        [
            ("numbers", preprocessing.StandardScaler(), ["size", "weight"]),
            ("words", preprocessing.OneHotEncoder(), ["color"]),
        ]
    )
    fitted = pipeline.make_pipeline(columns, linear_model.LogisticRegression()).fit(frame, CLASSES)
    types = [(key, FloatTensorType([None, 1])) for key in ("size", "weight")]
    types.append(("color", StringTensorType([None, 1])))
    options = {id(fitted): PLAIN}
    inputs = {key: frame[key].to_numpy()[:10, None] for key in frame.columns}
    return to_onnx(fitted, initial_types=types, options=options, target_opset=TARGETS), inputs


TARGETS = {"": 18, "ai.onnx.ml": 3}


def estimator(entry: Export) -> tuple[Any, Arrays]:
    """Fit, and return the ONNX model and its inputs: the first ten rows."""
    fitted = entry.make().fit(entry.data, *(() if entry.target is None else (entry.target,)))
    options = entry.options and {id(fitted): entry.options}
    rows = entry.data[:10]
    if entry.data.dtype == object:
        rows = rows if rows.ndim == 2 else rows[:, None]
        types = [("X", StringTensorType([None, rows.shape[1]]))]
        model = to_onnx(fitted, initial_types=types, options=options, target_opset=TARGETS)
    else:
        model = to_onnx(fitted, rows[:1], options=options, target_opset=TARGETS)
    return model, {model.graph.input[0].name: rows}


def boosted(kind: str) -> tuple[Any, Arrays]:
    """Fit a model of XGBoost or LightGBM: `package-task`."""
    import onnxmltools
    from onnxmltools.convert.common.data_types import FloatTensorType as Floats

    package, task = kind.split("-")
    target = TARGET if task == "regressor" else CLASSES if task == "classifier" else CLASSES > 1
    types = [("X", Floats([None, FEATURES]))]
    suffix = "Regressor" if task == "regressor" else "Classifier"
    if package == "xgboost":
        import xgboost

        fitted = getattr(xgboost, f"XGB{suffix}")(n_estimators=30, max_depth=5).fit(DATA, target)
        model = onnxmltools.convert_xgboost(fitted, initial_types=types, target_opset=15)
    else:
        import lightgbm

        fitted = getattr(lightgbm, f"LGBM{suffix}")(n_estimators=30, verbose=-1).fit(DATA, target)
        model = onnxmltools.convert_lightgbm(
            fitted, initial_types=types, target_opset=15, zipmap=False
        )
    return model, {"X": DATA[:10]}


MADE: dict[str, Callable[[], tuple[Any, Arrays]]] = {
    **{name: (lambda entry=entry: estimator(entry)) for name, entry in EXPORTS.items()},
    "columns_of_numbers_and_words": mixed,
    **{
        kind: (lambda kind=kind: boosted(kind))
        for package in ("xgboost", "lightgbm")
        for kind in (f"{package}-regressor", f"{package}-classifier", f"{package}-two")
    },
}


def export(name: str, path: Path) -> Arrays:
    np.random.seed(0)
    model, arrays = MADE[name]()
    path.write_bytes(model.SerializeToString())
    # Words as fixed-width strings: arrays of objects are pickled.
    return {
        key: array.astype(str) if array.dtype == object else array for key, array in arrays.items()
    }


if __name__ == "__main__":
    export_all({name: lambda path, name=name: export(name, path) for name in MADE})
