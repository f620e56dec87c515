"""A model as one C99 header: constant arrays and loops, no allocation, nothing but math.h."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from sleek.export.c_text import C_KEYWORDS, array_in_c, comment, identifier, labels_in_c, literal
from sleek.export.printing import C_LIKE, Printer, call, check_dtype, check_name, narrow
from sleek.export.program import Code, Each, Joined, Largest, Listed, Pick, Program, Step, Total
from sleek.export.translation import translate
from sleek.model.kernel_model import KernelModel

WORDS = ("row", "labels", "larger", "smaller", "outputs", "decision", "predict", "probabilities", "interval")
SIZES = ("H", "N_INPUTS", "N_OUTPUTS", "N_CLASSES")
EXTREME = """static inline {real} {name}({real} a, {real} b) {{
    return a {sign} b || a != a ? a : b; /* not a number stays so */
}}"""
TAKES = {
    "number": "must be a number",
    "optional": "NAN if missing",
    "date": "days since 1970-01-01 with fractions, NAN if missing",
    "text": "-1 if missing, {} if none of these",
}


def to_c(
    model: KernelModel, dtype: DTypeLike = "float64", name: str = "model", interval: float | None = None
) -> str:
    """The model as the text of a C99 header.

    Two classes: ``real NAME_decision(x)`` and ``int NAME_predict(x)``, the index of the class in
    ``NAME_labels``. More classes: ``void NAME_decision(x, y)`` fills one number for each. Regression:
    ``real NAME_predict(x)``, or ``void NAME_predict(x, y)`` for several targets. Classifiers also have
    ``void NAME_probabilities(x, p)``, which fills one probability for each class. A class index of -1 means
    that a feature was not a number. If the model has `inputs`, x is a pointer to a struct of the table's
    columns. The code takes a few bytes for each number of the model and no memory but the stack.

    Parameters
    ----------
    model : KernelModel
    dtype : "float64" or "float32", default="float64"
    name : str, default="model"
        The beginning of every name in the header.
    interval : float or None, default=None
        For regression: add ``void NAME_interval(x, ends)``, which fills the lower and upper ends between
        which each number is with this probability.

    Examples
    --------
    >>> from sleek import LowRankLSSVC, export
    >>> from sleek.datasets import make_ripley
    >>> model = LowRankLSSVC(3, C=10.0, random_state=0).fit(*make_ripley(100, random_state=0)).model_
    >>> text = export.to_c(model, dtype="float32", name="ripley")
    >>> [line for line in text.splitlines() if line.startswith("static inline int")]
    ['static inline int ripley_predict(const float x[2]) {']
    """
    check_name(name, C_KEYWORDS)
    return CPrinter(translate(model, interval), check_dtype(dtype), name).text()


class CPrinter(Printer):
    """Vectors are arrays on the stack, constants are static arrays whose last index is the unit's."""

    words: ClassVar[Mapping[str, str]] = {**C_LIKE, "absolute": "fabs"}

    def __init__(self, program: Program, dtype: Any, name: str) -> None:
        super().__init__(program)
        self.dtype, self.name, self.upper = dtype, name, name.upper()
        self.real, single = ("double", "") if dtype == np.float64 else ("float", "f")
        for key in ("absolute", "exp", "tanh", "sqrt", "floor"):
            self.operators[key] = call(f"{self.words[key]}{single}")
        self.operators |= {"maximum": call(f"{name}_larger"), "minimum": call(f"{name}_smaller")}
        tables = {step.table for step in program.steps if isinstance(step, Pick)}
        arrays = {key: narrow(key, array, dtype) for key, array in program.constants.items()}
        self.arrays = {key: array if key in tables else array.T for key, array in arrays.items()}
        taken = set(C_KEYWORDS)
        self.members = [identifier(input.name, taken) for input in program.inputs]
        size = len(program.inputs)
        self.argument = f"const {name}_row *x" if program.table else f"const {self.real} x[{size}]"

    # -- expressions and steps ------------------------------------------------------------------------------

    def number(self, value: float) -> str:
        return literal(narrow("number", value, self.dtype)[()], self.dtype)

    def element(self, array: str, place: tuple[str | int, ...]) -> str:
        if array == "x" and self.program.table and isinstance(place[0], int):
            return f"x->{self.members[place[0]]}"
        if array in self.arrays:
            return super().element(f"{self.name}_{array}", place[::-1])
        return super().element(array, place)

    def print_step(self, step: Step) -> list[str]:
        name, loop = step.name, f"for (int j = 0; j < {step.size}; ++j) "
        match step:
            case Each():
                lines = [f"{loop}{name}[j] = {self.say(step.value)};"]
            case Total():
                inner = loop.replace("j = 0", "j = i") if step.triangle else loop
                lines = [
                    f"{loop}{name}[j] = {self.say(step.start)};",
                    f"for (int i = 0; i < {step.over}; ++i)",
                    f"    {inner}{name}[j] += {self.say(step.value)};",
                ]
            case Largest():
                others = f"for (int k = 1; k < {self.program.size(step.of)}; ++k)"
                larger = f"if ({step.of}[k] > {name}[0]) {name}[0] = {step.of}[k];"
                lines = [f"{name}[0] = {step.of}[0];", f"{others} {larger}"]
            case Listed():
                lines = [f"{name}[{k}] = {self.say(value)};" for k, value in enumerate(step.values)]
            case Joined():
                lines = [
                    f"for (int j = 0; j < {size}; ++j) {name}[{begin} + j] = {part}[j];"
                    for (part, begin), size in zip(step.offsets().items(), step.sizes, strict=True)
                ]
            case Code():
                code, last = f"x->{self.members[step.input]}", len(self.program.inputs[step.input].levels)
                known = f"{code} < 0 || {code} > {last} ? {step.other} : {code}"
                lines = [f"{name}[0] = {code} == -1 ? {step.missing} : {known};"]
            case Pick():
                lines = [f"{loop}{name}[j] = {self.name}_{step.table}[(int){step.code}[0]][j];"]
        return [f"{self.real} {name}[{step.size}];", *lines]

    # -- functions ------------------------------------------------------------------------------------------

    def functions(self) -> list[str]:
        """The documented functions, and one for the scores that they call."""
        program, roles, real = self.program, self.program.outputs, self.real
        y, k = roles["scores"], program.size(roles["scores"])
        found = [self.function("outputs", "The scores, into out, which may be x", "void", ", {} *out", y)]
        word = "decision" if program.labels else "predict"
        if k > 1 or not (program.alone or program.labels):
            about = "The number of each class, into out" if program.labels else "The numbers, into out"
            found.append(self.function(word, about, "void", ", {} out[{}]", y))
        else:
            about = "Above 0: class 1, else class 0" if program.labels else "The predicted number"
            found.append(self.function(word, about, real, "", y, [f"return {y}[0];"]))
        if program.labels:
            choice = roles["choice"]
            about = "The class, of equal ones the first; -1 if a feature is not a number"
            last = [
                "int best = 0;",
                f"for (int k = 1; k < {len(program.labels)}; ++k)",
                f"    if ({choice}[k] > {choice}[best]) best = k;",
                f"return {choice}[best] == {choice}[best] ? best : -1;",
            ]
            found.append(self.function("predict", about, "int", "", choice, last))
        for role, about in {
            "probabilities": "The probability of each class, into out",
            "interval": f"Ends that hold with probability {program.level}, into out: lower, upper",
        }.items():
            if role in roles:
                found.append(self.function(role, about, "void", ", {} out[{}]", roles[role]))
        return found

    def function(
        self, name: str, about: str, kind: str, more: str, vector: str, last: list[str] | None = None
    ) -> str:
        """A function that computes a vector, from the scores if these are enough, and fills `out` with it."""
        scores, size = self.program.outputs["scores"], self.program.size(vector)
        lines, after = self.print_steps(self.program.steps_to(vector)), self.program.after_scores(vector)
        if after is not None and name != "outputs":
            first = f"{self.real} {scores}[{self.program.size(scores)}];"
            lines = [first, f"{self.name}_outputs(x, {scores});", *self.print_steps(after)]
        lines += last or [f"for (int k = 0; k < {size}; ++k) out[k] = {vector}[k];"]
        arguments = self.argument + more.format(self.real, size)
        head = f"/* {about}. */\nstatic inline {kind} {self.name}_{name}({arguments}) {{"
        return "\n".join([head, *(f"    {line}" for line in lines), "}"])

    # -- the header -----------------------------------------------------------------------------------------

    def text(self) -> str:
        """All of it."""
        program, name = self.program, self.name
        functions = self.functions()
        body = "".join(functions)
        extremes = [
            EXTREME.format(real=self.real, name=f"{name}_{word}", sign=sign)
            for word, sign in (("larger", ">"), ("smaller", "<"))
            if f"{name}_{word}(" in body
        ]
        sizes = {"N_INPUTS": len(program.inputs), "N_OUTPUTS": program.size(program.outputs["scores"])}
        sizes |= {"N_CLASSES": len(program.labels)} if program.labels else {}
        texts = [
            self.about(),
            f"#ifndef {self.upper}_H\n#define {self.upper}_H\n\n#include <math.h>",
            "\n".join(f"#define {self.upper}_{key} {size}" for key, size in sizes.items()),
            *([self.row()] if program.table else []),
            *([labels_in_c(program.labels, name)] if program.labels else []),
            *(array_in_c(f"{name}_{key}", array) for key, array in self.arrays.items()),
            *extremes,
            *functions,
            f"#endif /* {self.upper}_H */\n",
        ]
        return "\n\n".join(texts)

    def about(self) -> str:
        """The comment at the top."""
        lines = [f"/* {self.program.title} C99, needs math.h alone."]
        if not self.program.table:
            lines += [f" *   x[{i}]: {comment(input.name)}" for i, input in enumerate(self.program.inputs)]
        lines += [f" *   class {i}: {comment(repr(label))}" for i, label in enumerate(self.program.labels)]
        return "\n".join([*lines, " */"])

    def row(self) -> str:
        """A struct with a member for each column: numbers as they are, categories as an enumeration."""
        taken = {f"{self.name}_{word}" for word in (*WORDS, *self.arrays)}
        taken |= {f"{self.upper}_{word}" for word in SIZES}
        enumerations, members = [], []
        for input, member in zip(self.program.inputs, self.members, strict=True):
            kind, about = (
                "int" if input.kind == "text" else self.real,
                TAKES[input.kind].format(len(input.levels)),
            )
            members.append(f"    {kind} {member}; /* {comment(input.name)}: {about} */")
            words = [identifier(f"{self.name}_{member}_{level}", taken) for level in input.levels]
            codes = [
                f"    {word} = {code}, /* {comment(level)} */"
                for code, (word, level) in enumerate(zip(words, input.levels, strict=True))
            ]
            enumerations += ["\n".join(["enum {", *codes, "};\n"])] if codes else []
        return "".join(enumerations) + "\n".join(["typedef struct {", *members, f"}} {self.name}_row;"])
