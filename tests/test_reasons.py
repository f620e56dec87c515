"""Reasons, flips and familiarity of rows, in whatever form a person has them."""

import numpy as np
import pandas as pd
import pytest

import sleek

N = 400


@pytest.fixture(scope="module")
def credit():
    """Loans that are refused for a short job, a large sum, or a gap where the job should be."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "job": np.where(rng.random(N) < 0.2, np.nan, rng.gamma(2, 3, N).round(1)),
            "amount": rng.integers(1, 40, N),
            "purpose": rng.choice(["car", "house", "travel"], N),
            "since": pd.Timestamp("2010-01-01") + pd.to_timedelta(rng.integers(0, 3000, N), unit="D"),
        }
    )
    score = table.job.fillna(1.0) - 0.3 * table.amount + 3 * (table.purpose == "house")
    labels = np.where(score + rng.normal(scale=0.3, size=N) > 0, "good", "bad")
    model = sleek.LowRankLSSVC(10, basis="gaussian_rbf", C=10.0, random_state=0).fit(table, labels)
    return table, labels, model


def test_any_form_of_a_row_has_the_same_explanation(credit):
    table, _, model = credit
    row = table.iloc[3]
    expected = model.predict(table[3:4])[0], model.decision_function(table[3:4])[0]
    for form in (row, dict(row), list(row), table[3:4], [dict(row)], {k: [v] for k, v in row.items()}):
        found = model.explain(form)
        assert len(found) == 1
        assert found.predictions[0] == expected[0]
        np.testing.assert_allclose(found.outputs[0, 0], expected[1], rtol=1e-12)
    assert len(model.explain(table[:7])) == 7
    several = model.explain([dict(table.iloc[i]) for i in range(3)])
    np.testing.assert_allclose(several.outputs[:, 0], model.decision_function(table[:3]))


def test_rows_of_plain_numbers_have_any_form_too():
    X = np.random.default_rng(0).normal(size=(80, 2))
    model = sleek.LowRankLSSVR(3, basis="box", C=1.0, random_state=0).fit(X, X[:, 0])
    named = sleek.LowRankLSSVR(3, basis="box", C=1.0, random_state=0).fit(
        pd.DataFrame(X, columns=["a", "b"]), X[:, 0]
    )
    for form in (X[0], list(X[0]), X[:1]):
        np.testing.assert_allclose(model.explain(form).outputs[0, 0], model.predict(X[:1])[0])
    for form in ({"b": X[0, 1], "a": X[0, 0]}, pd.Series(X[0], index=["a", "b"]), X[0]):
        np.testing.assert_allclose(named.explain(form).outputs[0, 0], model.predict(X[:1])[0], rtol=1e-9)


def test_effects_of_a_row_are_in_its_own_words_and_add_up(credit):
    table, _, model = credit
    gap = int(np.flatnonzero(table.job.isna())[0])
    found = model.explain(table.iloc[gap])
    assert found.values[0]["job"] == "job is missing"
    assert found.values[0]["purpose"] == f"purpose {table.purpose[gap]}"
    assert found.values[0]["since"] == f"since {table.since[gap].date()}"
    np.testing.assert_allclose(found.effects.mean + found.effects.values[0].sum(axis=0), found.outputs[0])
    lines = found.effect_lines(0)
    sizes = [abs(float(line[1].replace(",", ""))) for line in lines[1:-1] if "smaller" not in line[0]]
    assert sizes == sorted(sizes, reverse=True)
    total = sum(float(line[1].replace(",", "")) for line in lines[:-1])
    assert total == pytest.approx(float(lines[-1][1]), abs=0.02)
    text = repr(found)
    assert text.index("job is missing") < text.index("by units") < text.index("as a linear model")


def test_units_that_play_no_part_are_not_printed():
    X = np.linspace(0, 100, 200)[:, None]
    model = sleek.LowRankLSSVR(12, basis="gaussian_rbf", C=1e4, shape=50.0, random_state=0).fit(
        X, np.sin(X[:, 0])
    )
    text = repr(model.explain([3.0]))
    assert "play no part" in text
    assert text.count("unit ") < 12


def test_reasons_pull_towards_the_decision(credit):
    table, _, model = credit
    effects = model.effects()
    found = model.reasons(table[:50], n=2)
    contributions = effects.contributions(table[:50])
    for i, reasons in enumerate(found):
        assert len(reasons) <= 2
        sign = 1 if contributions.outputs[i, 0] > 0 else -1
        pulls = []
        for name in effects.curves:
            places = [
                (n, 1.0 if n == name else 0.5)
                for n in contributions.names
                if n == name or (isinstance(n, tuple) and name in n)
            ]
            pulls.append(
                sum(w * contributions.values[i, contributions.names.index(n), 0] for n, w in places) * sign
            )
        best = sorted((-pull, name) for pull, name in zip(pulls, effects.curves, strict=True) if pull > 0)[:2]
        assert [reason.column for reason in reasons] == [name for _, name in best]
        np.testing.assert_allclose([sign * reason.effect for reason in reasons], [-pull for pull, _ in best])
    with pytest.raises(ValueError, match="at least 1"):
        model.reasons(table[:1], n=0)


def test_reasons_of_numbers_and_of_several_classes(credit):
    table, _, _ = credit
    y = table.amount * 10.0 + 100 * (table.purpose == "car")
    model = sleek.LowRankLSSVR(6, basis="box", C=100.0, random_state=0).fit(table, y)
    high = int(np.argmax(table.amount))
    assert model.reasons(table.iloc[high])[0][0].column == "amount"
    assert str(model.reasons(table.iloc[high])[0][0]).startswith("amount 39: +")
    classes = sleek.LowRankLSSVC(6, basis="gaussian_rbf", C=100.0, random_state=0).fit(table, table.purpose)
    assert [one[0].column for one in classes.reasons(table[:9], n=1)] == ["purpose"] * 9


def test_a_flip_is_the_smallest_change_that_decides_otherwise(credit):
    table, _, model = credit
    deviation = table.amount.std(ddof=0)
    for i in range(8):
        row = dict(table.iloc[i])
        found = model.flip(row, columns=["amount"])
        tried = {value: model.predict(pd.DataFrame([row | {"amount": value}]))[0] for value in range(1, 40)}
        others = [value for value, label in tried.items() if label != model.predict(table[i : i + 1])[0]]
        if not others:
            assert found is None
            continue
        nearest = min(others, key=lambda value: abs(value - row["amount"]))
        assert abs(found.new_value - row["amount"]) == abs(nearest - row["amount"])
        assert found.new_prediction == tried[int(found.new_value)] != found.prediction
        assert found.distance == pytest.approx(abs(found.new_value - row["amount"]) / deviation, rel=0.01)
        whole = model.flip(row)
        assert whole.distance <= found.distance
        changed = model.predict(pd.DataFrame([row | {whole.column: whole.new_value}]))[0]
        assert changed == whole.new_prediction


def test_flips_of_levels_dates_and_none(credit):
    table, labels, model = credit
    row = dict(table.iloc[0]) | {"job": 4.0, "amount": 18, "purpose": "car"}
    found = model.flip(row, columns=["purpose"])
    assert (found.new_value, found.distance) == ("house", 1.0)
    assert str(found) == "good instead of bad if purpose were house instead of car"
    assert model.flip(row, columns=["since"]) is None
    with pytest.raises(ValueError, match="reads no column 'x'"):
        model.flip(row, columns=["x"])
    with pytest.raises(ValueError, match="one row, got 2"):
        model.flip(table[:2])
    numbers = sleek.LowRankLSSVR(2, basis="robust_rbf", C=1.0, random_state=0).fit(table, labels == "good")
    with pytest.raises(ValueError, match="Only decisions flip"):
        numbers.flip(row)
    dates = sleek.LowRankLSSVC(6, basis="gaussian_rbf", C=100.0, random_state=0).fit(
        table[["since", "amount"]], np.where(table.since > pd.Timestamp("2014-01-01"), "late", "early")
    )
    when = dates.flip({"since": "2012-06-01", "amount": 3})
    assert when.column == "since"
    assert abs((pd.Timestamp(when.new_value) - pd.Timestamp("2014-01-01")).days) < 200


def test_familiar_rows_and_strange_ones(credit):
    table, _, model = credit
    common = model.familiar(table.assign(job=5.0, amount=20, purpose="car")[:3])
    assert [one.unusual for one in common] == [()] * 3
    assert str(common[0]) == "every column has a value that is common in training"
    with pytest.warns(UserWarning, match="never seen"):
        strange = model.familiar({"job": None, "amount": 99, "purpose": "yacht", "since": "2030-01-01"})[0]
    assert set(strange.unusual) == {"amount", "purpose", "since"}
    assert "amount 99: above all training rows (39)" in str(strange)
    assert "purpose (unknown): in no training row" in str(strange)
    assert "since 2030-01-01: above all training rows (20" in str(strange)
    assert strange.shares["job"] == pytest.approx(table.job.isna().mean())
    assert strange.shares["amount"] == 0.0
    middle = model.familiar(table.assign(amount=20)[:1])[0].shares["amount"]
    end = model.familiar(table.assign(amount=39)[:1])[0].shares["amount"]
    assert middle > 0.9
    share = (table.amount >= 39).mean()
    assert end == pytest.approx(2 * share, abs=0.03)
