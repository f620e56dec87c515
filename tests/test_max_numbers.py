"""max_numbers= bounds what a person has to read, and the rule chooses among what is left."""

from itertools import pairwise

import numpy as np
import pytest
from typer.testing import CliRunner

from sleek import LowRankLSSVC, LowRankLSSVR
from sleek.cli.commands import app
from sleek.datasets import make_ripley


def table(n, kind):
    rng = np.random.default_rng(n)
    X = rng.uniform(-1.0, 1.0, size=(n, 6))
    f = 2.0 * np.sin(3.0 * X[:, 0]) * X[:, 1] + np.maximum(X[:, 2], 0.0) + (X[:, 3] > 0.3) * X[:, 4]
    if kind == "number":
        return LowRankLSSVR, X, f + 0.2 * rng.normal(size=n)
    cuts = [0.3] if kind == "two" else [-0.3, 0.8]
    return LowRankLSSVC, X, np.digitize(f + 0.2 * rng.normal(size=n), cuts)


@pytest.mark.parametrize("basis", ["auto", "box"])
@pytest.mark.parametrize("kind", ["number", "two", "three"])
@pytest.mark.parametrize("n", [200, 1500])
def test_no_model_has_more_numbers_than_are_wanted(n, kind, basis):
    estimator, X, y = table(n, kind)
    for most in (15, 40):
        model = estimator(basis=basis, max_numbers=most, random_state=0, effort="quick").fit(X, y)
        assert model.n_numbers_ <= most
        assert sum(model.path_["chosen"]) == 1
        assert max(model.path_["n_numbers"]) > most  # what more of them would bring is there to see
        assert f"with at most {most} numbers, as was asked for" in " ".join(str(model.model_).split())


def test_a_bound_that_does_not_bind_changes_nothing():
    estimator, X, y = table(900, "number")
    free = estimator(random_state=0).fit(X, y)
    bound = estimator(random_state=0, max_numbers=max(free.path_["n_numbers"])).fit(X, y)
    np.testing.assert_array_equal(bound.predict(X), free.predict(X))
    assert bound.path_["loss"] == free.path_["loss"]


def test_numbers_that_are_allowed_are_used_where_they_pay():
    estimator, X, y = table(1500, "number")
    losses = []
    for most in (10, 20, 40, 80):
        model = estimator(random_state=0, max_numbers=most).fit(X, y)
        losses.append(model.path_["loss"][model.path_["chosen"].index(True)])
        if most < 80:  # more than all that pays
            assert model.n_numbers_ >= 0.75 * most
    assert all(fewer > 0.95 * more for fewer, more in pairwise(losses))
    assert losses[0] > 4 * losses[-1]


def test_a_bound_that_nothing_keeps_is_told():
    X, y = make_ripley(200, random_state=0)
    y = y + 2 * (X[:, 1] > 0.5)
    with pytest.warns(UserWarning, match=r"`max_numbers`=3 is less than the \d+ numbers"):
        LowRankLSSVC(max_numbers=3, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"max_numbers": 1}, "`max_numbers` must be"),
        ({"max_numbers": 2.5}, "`max_numbers` must be"),
        ({"max_numbers": 20, "n_units": 3}, "`max_numbers` chooses a size: leave `n_units`"),
    ],
)
def test_other_bounds_get_a_sentence(settings, error):
    X, y = make_ripley(60, random_state=0)
    with pytest.raises((ValueError, TypeError), match=error):
        LowRankLSSVC(**settings).fit(X, y)


def test_the_command_line_bounds_numbers_too(tmp_path):
    _, X, y = table(300, "number")
    data, model = tmp_path / "table.csv", tmp_path / "model.json"
    rows = [",".join(map(str, row)) for row in np.column_stack([X, y])]
    data.write_text("\n".join(["a,b,c,d,e,f,target", *rows]))
    fit = ["fit", str(data), "--target", "target", "--max-numbers", "25"]
    assert CliRunner().invoke(app, [*fit, "-o", str(model)]).exit_code == 0
    shown = CliRunner().invoke(app, ["show", str(model)])
    assert "with at most 25 numbers, as was asked for" in " ".join(shown.output.split())
    both = CliRunner().invoke(app, [*fit, "--units", "3"])
    assert both.exit_code == 2
    assert "--max-numbers chooses a size, and --units fixes it" in " ".join(both.stderr.split())
