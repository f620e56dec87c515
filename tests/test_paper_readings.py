"""Algorithm 1 as it can be read: the chosen reading is sleek's, the others differ, and all fill a table."""

import pytest

from paper.readings import CHOSEN, READINGS, ReadingTable, error_path
from paper.settings import SETTINGS
from studies.packages import ripley


@pytest.mark.parametrize("row", ["sbf", "absolute", "squared", "target"])
def test_the_chosen_reading_is_sleeks_algorithm(row):
    problem = ripley()
    X, y, X_test, y_test = problem.split(0)
    setting = SETTINGS["ripley"][row]
    path = error_path(problem, setting, CHOSEN)
    for iterations in (0, 7, 100):
        model = setting.model().set_params(trainer__max_iter=iterations).fit(X, y)
        assert path[iterations] == pytest.approx(100 * (1 - model.score(X_test, y_test)))


def test_readings_differ_and_fill_a_table():
    problem = ripley()
    setting = SETTINGS["ripley"]["sbf"]
    chosen = [READINGS[0], READINGS[-1], next(r for r in READINGS if r.order == "solved" and r.norm == "all")]
    paths = {reading: {"sbf": error_path(problem, setting, reading)} for reading in chosen}
    assert len({tuple(path["sbf"]) for path in paths.values()}) == 3
    rows = ("sbf", "absolute", "squared", "target")
    table = ReadingTable({reading: dict.fromkeys(rows, p["sbf"]) for reading, p in paths.items()})
    assert table.markdown().count("\n") == 3 + 1 + 2
    assert table.csv().count("\n") == 1 + 3 * 4 * 101
    assert f"{paths[CHOSEN]['sbf'][-1]:.1f}" in table.markdown()
