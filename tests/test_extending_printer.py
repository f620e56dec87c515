"""A new language to export to, as somebody outside the package would write it: awk.

Rows are fields that are separated by tabs, `NA` if missing, dates as days; the answer is the class, or the
numbers.
"""

import json
import shutil
import subprocess
from typing import ClassVar

import numpy as np
import pytest
import zoo

from sleek.export.printing import C_LIKE, Printer
from sleek.export.program import Code, Each, Joined, Largest, Listed, Pick, Total
from sleek.export.translation import translate

FUNCTIONS = """function larger(a, b) { return a > b ? a : b }
function smaller(a, b) { return a < b ? a : b }
function floor(a) { return int(a) - (int(a) > a) }
function tanh(a,  e) { e = exp(-2 * larger(a, -a)); return (a < 0 ? -1 : 1) * (1 - e) / (1 + e) }
"""


def quote(value):
    return json.dumps(value, ensure_ascii=False)


class AwkPrinter(Printer):
    words: ClassVar[dict[str, str]] = {
        **C_LIKE,
        "absolute": "larger({0}, -{0})",
        "maximum": "larger",
        "minimum": "smaller",
        "is_missing": '({} == "NA")',
    }

    def element(self, array, place):  # the default is array[j][i]
        return f"{array}[{', '.join(map(str, place))}]"

    def print_step(self, step):
        name, each = step.name, f"for (j = 0; j < {step.size}; j++) "
        match step:
            case Each():
                return [f"{each}{name}[j] = {self.say(step.value)}"]
            case Total():
                last = "j" if step.triangle else step.over - 1
                terms = f"for (i = 0; i <= {last}; i++) {name}[j] += {self.say(step.value)}"
                return [f"{each}{{ {name}[j] = {self.say(step.start)}; {terms} }}"]
            case Largest():
                others = f"for (j = 1; j < {self.program.size(step.of)}; j++)"
                return [f"{name}[0] = {step.of}[0]", f"{others} {name}[0] = larger({name}[0], {step.of}[j])"]
            case Listed():
                return [f"{name}[{k}] = {self.say(value)}" for k, value in enumerate(step.values)]
            case Joined():
                parts = zip(step.offsets().items(), step.sizes, strict=True)
                copy = "for (j = 0; j < {2}; j++) {3}[{1} + j] = {0}[j]"
                return [copy.format(part, begin, size, name) for (part, begin), size in parts]
            case Code():
                text = f"x[{step.input}]"
                known = f"({text} in texts_{name}) ? texts_{name}[{text}] : {step.other}"
                return [f'{name}[0] = {text} == "NA" ? {step.missing} : ({known})']
            case Pick():
                return [f"{each}{name}[j] = {step.table}[{step.code}[0], j]"]

    def text(self):
        program, y = self.program, self.program.outputs["scores"]
        answer = program.outputs.get("choice", y)
        steps, n = program.steps_to(answer), program.size(answer)
        begin = ['FS = "\\t"', 'OFMT = "%.17g"']
        for name, array in program.arrays(steps).items():
            places = zip(np.ndindex(array.shape), array.ravel().tolist(), strict=True)
            begin += [f"{self.element(name, place)} = {value!r}" for place, value in places]
        for step in steps:
            if isinstance(step, Code):
                begin += [f"texts_{step.name}[{quote(text)}] = {line}" for text, line in step.lines]
        begin += [f"labels[{k}] = {quote(label)}" for k, label in enumerate(program.labels)]
        row = f"for (j = 0; j < {len(program.inputs)}; j++) x[j] = $(j + 1)"
        last = [f"print {', '.join(f'{y}[{k}]' for k in range(n))}"]
        if program.labels:
            better = f"if ({answer}[j] > {answer}[best]) best = j"
            last = ["best = 0", f"for (j = 1; j < {n}; j++) {better}", "print labels[best]"]
        lines = [row, *self.print_steps(steps), *last]
        inside = ["\n  ".join(part) for part in (begin, lines)]
        return f"{FUNCTIONS}BEGIN {{\n  {inside[0]}\n}}\n{{\n  {inside[1]}\n}}\n"


def awk(program, rows, folder):
    """What the printed program answers for rows of fields."""
    (folder / "model.awk").write_text(AwkPrinter(program).text(), encoding="utf-8")
    text = "".join("\t".join(row) + "\n" for row in rows)
    done = subprocess.run(
        ["awk", "-f", folder / "model.awk"], input=text, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return [line.split(" ") for line in done.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("awk") is None, reason="there is no awk on this machine")
@pytest.mark.parametrize("task", ["binary", "classes", "numbers"])
@pytest.mark.parametrize("basis", zoo.BASES + zoo.MIXED)
def test_a_printer_of_ones_own_prints_programs_that_run(basis, task, tmp_path):
    model, X = zoo.model(basis, task), zoo.test_rows(task)
    found = awk(translate(model), [list(map(repr, row)) for row in X.tolist()], tmp_path)
    if task == "numbers":
        Y = np.array(found, dtype=float)
        assert np.max(np.abs(Y - zoo.outputs(model, X)) / zoo.scale(model, X)) < 1e-12
    else:
        assert [line[0] for line in found] == [str(label) for label in model.predict(X)]


@pytest.mark.skipif(shutil.which("awk") is None, reason="there is no awk on this machine")
def test_a_printer_of_ones_own_reads_texts_and_missing_values(tmp_path):
    model, table, features = zoo.with_inputs(labels=None)
    rows = zip(*table.values(), strict=True)
    fields = [["NA" if value is None else str(value) for value in row] for row in rows]
    found = np.array(awk(translate(model), fields, tmp_path), dtype=float)
    np.testing.assert_allclose(found[:, 0], model.predict(features), rtol=1e-9)
