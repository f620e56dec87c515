"""A model as one Python function that imports nothing but the standard library's math."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Mapping
from typing import Any, ClassVar

from sleek.export.printing import C_LIKE, Printer, check_name, functions_of
from sleek.export.program import Code, Each, Joined, Largest, Listed, Pick, Step, Total
from sleek.export.translation import translate
from sleek.model.kernel_model import KernelModel

IMPORTS = ("exp", "floor", "sqrt", "tanh")
READ = {  # a value of each kind, by a function of row_in_python.txt
    "number": "number(values[{k}])",
    "optional": "number(values[{k}], False)",
    "date": "days_since_1970(values[{k}], {order!r})",
    "text": "word(values[{k}])",
}
TAKES = {
    "number": "a finite number",
    "optional": "a number or None",
    "date": "a date or datetime, text that is one, or None",
    "text": "one of {levels}, else unknown",
}


def to_python(model: KernelModel, name: str = "predict", interval: float | None = None) -> str:
    """The model as the text of a Python module with one function.

    ``NAME(row)`` is the class label or the predicted number (a list for several targets), and
    ``NAME(row, scores=True)`` the list of the model's outputs; ``NAME(row, proba=True)`` is the list of the
    classes' probabilities. A row is a sequence of numbers, or a
    dictionary by feature name. If the model has `inputs`, it holds the table's raw values, with None or NaN
    for missing ones. The function runs in any Python 3 without packages, in double precision.

    Parameters
    ----------
    model : KernelModel
    name : str, default="predict"
        The function.
    interval : float or None, default=None
        For regression: let ``NAME(row, interval=True)`` be the lower and upper ends between which the number
        is with this probability, a list of pairs for several targets.

    Examples
    --------
    >>> from sleek import LowRankLSSVC, export
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> model = LowRankLSSVC(3, C=10.0, random_state=0).fit(X, y).model_
    >>> module = {}
    >>> exec(export.to_python(model, name="ripley"), module)
    >>> [module["ripley"](row) for row in X.tolist()] == model.predict(X).tolist()
    True
    """
    check_name(name, [*keyword.kwlist, *dir(builtins), *IMPORTS])
    return PythonPrinter(translate(model, interval)).text(name)


class PythonPrinter(Printer):
    """Vectors are lists, constants are tuples."""

    words: ClassVar[Mapping[str, str]] = {**C_LIKE, "where": "({1} if {0} else {2})", "number": "float"}

    def print_step(self, step: Step) -> list[str]:
        match step:
            case Each():
                value = f"[{self.say(step.value)} for j in range({step.size})]"
            case Total():
                count = "j + 1" if step.triangle else step.over
                total = f"sum([{self.say(step.value)} for i in range({count})], {self.say(step.start)})"
                value = f"[{total} for j in range({step.size})]"
            case Largest():
                value = f"[max({step.of})]"
            case Listed():
                value = f"[{', '.join(map(self.say, step.values))}]"
            case Joined():
                value = " + ".join(step.parts)
            case Code():
                lines: dict[str | None, int] = {**dict(step.lines), None: step.missing}
                value = f"[{lines!r}.get(x[{step.input}], {step.other})]"
            case Pick():
                value = f"list({step.table}[{step.code}[0]])"
        return [f"{step.name} = {value}"]

    def text(self, name: str) -> str:
        """The module: a function with an option for each role but the answer."""
        program, roles = self.program, self.program.outputs
        scores, ends = roles["scores"], roles.get("interval")
        first = program.steps_to(scores)
        lines = [f"{key} = {_literal(array.tolist())}" for key, array in program.constants.items()]
        lines += [*self.read(), *self.print_steps(first), "if scores:", f"    return {scores}"]
        pairs = f"tuple({ends})" if program.alone else f"list(zip({ends}[::2], {ends}[1::2]))"
        options = {"probabilities": ("proba", roles.get("probabilities")), "interval": ("interval", pairs)}
        given = {role: option for role, option in options.items() if role in roles}
        for role, (option, value) in given.items():
            more = self.print_steps([step for step in program.steps_to(roles[role]) if step not in first])
            lines += [f"if {option}:", *(f"    {line}" for line in more), f"    return {value}"]
        answer = f"{scores}[0]" if program.alone else scores
        if program.labels:
            choice = roles["choice"]
            lines += self.print_steps([step for step in program.steps_to(choice) if step not in first])
            answer = f"{program.labels!r}[{choice}.index(max({choice}))]"
        body = "\n".join([*lines, f"return {answer}"])
        used = ", ".join(word for word in IMPORTS if f"{word}(" in body)
        head = f"from math import {used}\n\n\n" if used else ""
        arguments = ", ".join(["row", "scores=False", *(f"{option}=False" for option, _ in given.values())])
        return f"{head}def {name}({arguments}):\n{_indent(self.docstring())}\n{_indent(body)}\n"

    def read(self) -> list[str]:
        """Lines that make `x` of `row`, and refuse what is not a number."""
        inputs = self.program.inputs
        values = [READ[one.kind].format(k=k, order=one.order) for k, one in enumerate(inputs)]
        x = f"[{', '.join(values)}]" if self.program.table else "[number(value) for value in values]"
        return [
            *functions_of("row_in_python.txt", x),
            f"names = {tuple(input.name for input in inputs)!r}",
            "values = [row[name] for name in names] if isinstance(row, dict) else list(row)",
            "if len(values) != len(names):",
            '    raise ValueError("A row must have %d values, got %d." % (len(names), len(values)))',
            f"x = {x}",
        ]

    def docstring(self) -> str:
        """What the function takes and gives; as one literal that no name can break out of."""
        program = self.program
        takes = [
            f"    {one.name!r}: " + TAKES[one.kind].format(levels=", ".join(map(repr, one.levels)))
            for one in program.inputs
        ]
        gives = "the number" if program.alone else "the numbers"
        if program.labels:
            gives = f"one of {', '.join(map(repr, program.labels))}"
        about = ["scores : give the outputs that decide, as a list, instead of the answer"]
        if "probabilities" in program.outputs:
            about.append("proba : give the probability of every class, as a list")
        if "interval" in program.outputs:
            about.append(f"interval : give ends that hold with probability {program.level}")
        what = [program.title, "", "row : a sequence, or a dictionary by name, of", *takes, *about]
        lines = [*what, "", f"Returns {gives}."]
        words = [line.encode("unicode_escape").decode("ascii").replace('"', '\\"') for line in lines]
        return '"""' + "\n".join(words) + '\n"""'


def _literal(values: list[Any]) -> str:
    """Nested tuples, one row a line."""
    if not isinstance(values[0], list):
        return repr(tuple(values))
    return "(\n" + "".join(f"    {tuple(row)!r},\n" for row in values) + ")"


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))
