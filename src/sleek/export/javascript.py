"""A model as one JavaScript module without dependencies, typed by JSDoc comments."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from sleek._runtime.types import FloatArray
from sleek.export.printing import C_LIKE, Printer, functions_of, level_number
from sleek.export.program import Code, Each, Joined, Largest, Listed, Pick, Step, Total
from sleek.export.translation import translate
from sleek.model.kernel_model import KernelModel

READ = {  # a value of each kind, by a function of row.mjs
    "number": "number(v[{k}], true)",
    "optional": "number(v[{k}], false)",
    "date": 'days(v[{k}], "{order}")',
    "text": "word(v[{k}])",
}
TYPES = {
    "number": "number",
    "optional": "number | null",
    "date": "Date | string | number | null",
    "text": "string | number | boolean | null",
}
READER = """const names = [{names}];
function read(row) {{
  const v = Array.isArray(row) || ArrayBuffer.isView(row) ? row : names.map((name) => row[name]);
  if (v.length !== names.length) {{
    throw new RangeError(`A row must have ${{names.length}} values, got ${{v.length}}.`);
  }}
  return [{values}];
}}"""
FUNCTION = """/**
 * {about}
 * @param {{Row | ArrayLike<any>}} row
 */
export function {name}(row) {{
  {lines}
}}"""


def to_javascript(model: KernelModel, interval: float | None = None) -> str:
    """The model as the text of an ES module for browsers, Node and other engines.

    ``predict(row)`` is the class label or the predicted number (an array for several targets), and
    ``scores(row)`` the model's outputs; classifiers have ``probabilities(row)``, one for each of ``labels``.
    A row is an array, or an object by name. If the model has `inputs`, it holds the table's raw values, with
    null, undefined or NaN for missing ones; dates are Date objects, text or days since 1970-01-01. All is in
    double precision.

    Parameters
    ----------
    model : KernelModel
    interval : float or None, default=None
        For regression: add ``interval(row)``, the lower and upper ends between which the number is with this
        probability, an array of pairs for several targets.

    Examples
    --------
    >>> from sleek import LowRankLSSVC, export
    >>> from sleek.datasets import make_ripley
    >>> model = LowRankLSSVC(3, C=10.0, random_state=0).fit(*make_ripley(100, random_state=0)).model_
    >>> [line for line in export.to_javascript(model).splitlines() if line.startswith("export")]
    ['export const labels = [0, 1];', 'export function scores(row) {', \
'export function probabilities(row) {', 'export function predict(row) {']
    """
    return JavaScriptPrinter(translate(model, interval)).text()


class JavaScriptPrinter(Printer):
    """Vectors and constants are arrays."""

    words: ClassVar[Mapping[str, str]] = {
        **C_LIKE,
        **{key: f"Math.{key}" for key in ("exp", "tanh", "sqrt", "floor")},
        "absolute": "Math.abs",
        "maximum": "Math.max",
        "minimum": "Math.min",
        "equal": "({} === {})",
        "is_missing": "Number.isNaN",
        "number": "Number",
        "truth": "({} !== 0)",
    }

    def print_step(self, step: Step) -> list[str]:
        match step:
            case Each():
                value = f"each({step.size}, (j) => {self.say(step.value)})"
            case Total():
                count = "j + 1" if step.triangle else step.over
                total = f"sum({count}, (i) => {self.say(step.value)}, {self.say(step.start)})"
                value = f"each({step.size}, (j) => {total})"
            case Largest():
                value = f"[Math.max(...{step.of})]"
            case Listed():
                value = f"[{', '.join(map(self.say, step.values))}]"
            case Joined():
                value = f"[{', '.join(f'...{part}' for part in step.parts)}]"
            case Code():
                value = f"[texts_{step.name}.get(x[{step.input}]) ?? {step.other}]"
            case Pick():
                value = f"{step.table}[{step.code}[0]]"
        return [f"const {step.name} = {value};"]

    def text(self) -> str:
        """The module: a function for each role."""
        program, roles, y = self.program, self.program.outputs, self.program.outputs["scores"]
        inputs, labels = program.inputs, ", ".join(map(_literal, program.labels))
        row = ", ".join(f"{_literal(one.name)}: {TYPES[one.kind]}" for one in inputs)
        values = [READ[one.kind].format(k=k, order=one.order) for k, one in enumerate(inputs)]
        names = ", ".join(_literal(one.name) for one in inputs)
        texts = [
            f"/* {program.title.replace('*/', '* /')} */",
            f"/** @typedef {{{{ {row} }}}} Row */",
            *([f"export const labels = [{labels}];"] if labels else []),
            *(f"const {key} = {_numbers(array)};" for key, array in program.constants.items()),
            *(_codes(step) for step in program.steps if isinstance(step, Code)),
            READER.format(names=names, values=", ".join(values)),
            self.function("scores", "The model's outputs.", y, y),
        ]
        if "probabilities" in roles:
            about, p = "The probability of each class, in the order of labels.", roles["probabilities"]
            texts.append(self.function("probabilities", about, p, p))
        if "interval" in roles:
            ends = roles["interval"]
            about = f"Ends between which the number is with probability {program.level}."
            pairs = f"each({program.size(y)}, (k) => [{ends}[2 * k], {ends}[2 * k + 1]])"
            texts.append(self.function("interval", about, ends, ends if program.alone else pairs))
        if program.labels:
            choice = roles["choice"]
            answer = f"labels[{choice}.indexOf(Math.max(...{choice}))]"
            texts.append(self.function("predict", "The class.", choice, answer))
        else:
            texts.append(self.function("predict", "The answer.", y, f"{y}[0]" if program.alone else y))
        return "\n\n".join([*texts, *functions_of("row.mjs", "".join(texts))]) + "\n"

    def function(self, name: str, about: str, vector: str, answer: str) -> str:
        """A function that answers by a vector, which follows from the row or from the scores."""
        steps, begin = self.program.steps_to(vector), "const x = read(row);"
        after = None if name == "scores" else self.program.after_scores(vector)
        if after is not None:
            steps, begin = after, f"const {self.program.outputs['scores']} = scores(row);"
        lines = [begin, *self.print_steps(steps), f"return {answer};"]
        return FUNCTION.format(about=about, name=name, lines="\n  ".join(lines))


def _codes(step: Code) -> str:
    """The known texts, and the numbers that they are."""
    pairs: list[tuple[Any, int]] = [*step.lines, (None, step.missing)]
    pairs += [(number, line) for text, line in step.lines if (number := level_number(text)) is not None]
    entries = [f"[{_literal(key)}, {line}]" for key, line in pairs]
    return f"const texts_{step.name} = new Map([{', '.join(entries)}]);"


def _numbers(array: FloatArray) -> str:
    """Numbers as they are, whole ones without a point: of most units most numbers are 0.

    >>> import numpy as np
    >>> _numbers(np.array([[0.0, 10.0], [0.5, -1.25e-20]]))
    '[[0, 10], [0.5, -1.25e-20]]'
    """
    return re.sub(r"\.0(?=[,\]])", "", json.dumps(array.tolist()))


def _literal(value: Any) -> str:
    """A value as a literal, also in comments and pages; whole numbers beyond a double as BigInt."""
    if isinstance(value, int) and abs(value) > 2**53:
        return f"{value}n"
    text = json.dumps(value).replace("*/", "*\\u002f").replace("/*", "\\u002f*")
    return text.replace("<", "\\u003c")  # </script> would end a script that stands in a page
