"""ONNX models run in onnxruntime and compute what the models compute, alone and in pipelines."""

from copy import copy

import numpy as np
import pytest
import zoo
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sleek import LowRankLSSVC, LowRankLSSVR
from sleek.export import register_skl2onnx, to_onnx

runtime = pytest.importorskip("onnxruntime")
skl2onnx = pytest.importorskip("skl2onnx")


def session(proto):
    return runtime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])


def run(proto, feed):
    running = session(proto)
    return dict(zip([out.name for out in running.get_outputs()], running.run(None, feed), strict=True))


def clear_cases(expected, scale):
    """Rows whose class single precision can decide."""
    if expected.shape[1] == 1:
        return np.abs(expected[:, 0]) > 1e-5 * scale[:, 0]
    best = np.sort(expected, axis=1)
    return best[:, -1] - best[:, -2] > 2e-5 * scale.max(axis=1)


@pytest.mark.parametrize(("dtype", "digits"), [("float64", 1e-12), ("float32", 1e-5)])
@pytest.mark.parametrize(("basis", "task"), zoo.CASES)
def test_it_is_the_model(basis, task, dtype, digits):
    model, X = zoo.model(basis, task), zoo.test_rows(task).astype(dtype)
    found, X = run(to_onnx(model, dtype), {"X": X}), X.astype(np.float64)
    expected, scale = zoo.outputs(model, X), zoo.scale(model, X)
    scores = found["variable" if not zoo.classifies(model) else "scores"]
    assert scores.dtype == dtype
    assert scores.shape == expected.shape
    steep = 2 if basis == "curves" else 1  # ramps, which magnify rounding of knots
    assert np.max(np.abs(scores - expected) / scale) < steep * digits
    if zoo.classifies(model):
        clear = clear_cases(expected, scale) if dtype == "float32" else slice(None)
        np.testing.assert_array_equal(found["label"][clear], model.predict(X)[clear])


@pytest.mark.parametrize(
    "labels", [(False, True), (0.0, 1.0), ("é", ""), (-(2**63), 2**63 - 1), (3, 1, 2)], ids=str
)
def test_labels_are_text_or_whole_numbers(labels):
    model, X = zoo.handmade(labels=labels), np.random.default_rng(0).normal(size=(30, 3))
    label = run(to_onnx(model, "float64"), {"X": X})["label"]
    assert label.tolist() == model.predict(X).tolist()
    assert label.dtype == (object if isinstance(labels[0], str) else np.int64)


@pytest.mark.parametrize("labels", [(0.5, 1.5), np.array([0, 2**64 - 1], dtype=np.uint64)], ids=str)
def test_other_labels_are_refused(labels):
    with pytest.raises(ValueError, match="ONNX labels are text or 64-bit whole numbers"):
        to_onnx(zoo.handmade(labels=labels))


@pytest.mark.parametrize(("dtype", "digits"), [("float64", 1e-12), ("float32", 1e-5)])
@pytest.mark.parametrize("labels", [("no", "yes"), (1, 2, 3), None])
def test_columns_of_a_table_are_inputs(dtype, digits, labels):
    model, table, X = zoo.with_inputs("sigmoidal", labels)
    feed = {
        name: np.array(["" if v is None else v for v in values], dtype=object)[:, None]
        if "city" in name
        else np.array(values, dtype=dtype)[:, None]
        for name, values in table.items()
    }
    found = run(to_onnx(model, dtype), feed)
    scores = found["scores" if labels else "variable"]
    assert np.max(np.abs(scores - zoo.outputs(model, X)) / zoo.scale(model, X)) < digits
    if labels:
        assert found["label"].tolist() == model.predict(X).tolist()


def test_columns_may_be_called_like_ours_but_not_like_outputs():
    from sleek.tables.columns import NumberColumn
    from sleek.tables.inputs import Inputs

    def model(*names):
        inputs = Inputs(tuple(NumberColumn(name, fill=0.0) for name in names))
        return zoo.handmade(feature_names=inputs.feature_names, inputs=inputs)

    names = ("sleek_theta_0", "add_1", "X")
    feed = {name: np.full((1, 1), np.nan) for name in names}
    scores = run(to_onnx(model(*names), "float64"), feed)["scores"]
    np.testing.assert_allclose(scores[0], model(*names).decision_function(np.zeros((1, 3))), rtol=1e-12)
    with pytest.raises(ValueError, match="A column named 'scores' cannot be an ONNX input"):
        to_onnx(model("a", "scores", "c"))


@pytest.mark.parametrize("gap", [False, True])
def test_the_empty_text_is_a_level_or_a_gap_but_not_both(gap):
    from sleek.tables.columns import CategoryColumn
    from sleek.tables.inputs import Inputs

    inputs = Inputs((CategoryColumn("code", ("", "a"), gap=gap, other=True),))
    d = len(inputs.feature_names)
    model = zoo.handmade("sigmoidal", None, d=d, feature_names=inputs.feature_names, inputs=inputs)
    if gap:
        with pytest.raises(ValueError, match="Column 'code' has the empty text as a level beside missing"):
            to_onnx(model)
        return
    values = ["", "a", "b"]
    found = run(to_onnx(model, "float64"), {"code": np.array(values, dtype=object)[:, None]})["variable"]
    np.testing.assert_allclose(found[:, 0], model.predict(inputs.transform({"code": values})), rtol=1e-12)


def test_not_a_number_gives_no_score():
    found = run(to_onnx(zoo.handmade("simplex"), "float64"), {"X": np.array([[0.0, np.nan, 0.0]])})
    assert np.isnan(found["scores"]).all()


@pytest.mark.parametrize(("dtype", "digits"), [(np.float64, 1e-12), (np.float32, 1e-5)])
@pytest.mark.parametrize("task", zoo.TASKS)
def test_pipelines_convert_with_skl2onnx(task, dtype, digits):
    register_skl2onnx()
    X, y = zoo.problem(task)
    kind = LowRankLSSVC if task in ("binary", "classes") else LowRankLSSVR
    pipeline = make_pipeline(StandardScaler(), kind(5, C=10.0, shape=0.3, random_state=0)).fit(
        X[:200], y[:200]
    )
    X = X.astype(dtype)
    found, X = run(skl2onnx.to_onnx(pipeline, X[:1]), {"X": X}), X.astype(np.float64)
    model, Z = pipeline[-1].model_, pipeline[0].transform(X)
    expected, scale = zoo.outputs(model, Z), zoo.scale(model, Z)
    if zoo.classifies(model):
        clear = clear_cases(expected, scale)
        np.testing.assert_array_equal(found["label"][clear], pipeline.predict(X)[clear])
        assert found["probabilities"].dtype == dtype
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(Z), atol=100 * digits)
    else:
        assert found["variable"].dtype == dtype
        assert np.max(np.abs(found["variable"] - expected) / scale) < digits


@pytest.mark.parametrize("basis", zoo.MIXED)
@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_models_of_several_parts_convert_with_skl2onnx(basis, task):
    register_skl2onnx()
    estimator, model, X = copy(zoo.fitted("box", task)), zoo.model(basis, task), zoo.test_rows(task)
    estimator.model_ = model
    found = run(skl2onnx.to_onnx(estimator, X[:1]), {"X": X})
    scores = found["scores" if zoo.classifies(model) else "variable"]
    assert np.max(np.abs(scores - zoo.outputs(model, X)) / zoo.scale(model, X)) < 1e-12


def test_skl2onnx_takes_whole_numbers_and_options_too():
    register_skl2onnx()
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, size=(60, 2))
    classifier = LowRankLSSVC(3, C=10.0, random_state=0).fit(X, X.sum(axis=1) > 8)
    types = [("X", skl2onnx.common.data_types.Int64TensorType([None, 2]))]
    options = {id(classifier): {"zipmap": False}}
    found = run(skl2onnx.convert_sklearn(classifier, initial_types=types, options=options), {"X": X})
    assert found["label"].tolist() == classifier.predict(X).astype(int).tolist()
