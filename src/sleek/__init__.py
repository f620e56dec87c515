"""sleek: sparse least-squares kernel machines.

Kernel machines with a handful of learnable units instead of thousands of support vectors.

A public name is imported when it is first used. Importing the package itself is then a matter of
milliseconds: `sleek --help` and the completion of shell commands do not wait for SciPy and scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sleek import export as export
    from sleek import plots as plots
    from sleek._runtime.json_values import ModelFileError as ModelFileError
    from sleek.bases.base import Basis as Basis
    from sleek.bases.box import Box as Box
    from sleek.bases.curves import Curves as Curves
    from sleek.bases.distance import DistanceBasis as DistanceBasis
    from sleek.bases.expansion import Expansion as Expansion
    from sleek.bases.expansion import Part as Part
    from sleek.bases.formula import Formula as Formula
    from sleek.bases.gaussian_rbf import GaussianRBF as GaussianRBF
    from sleek.bases.linear import Linear as Linear
    from sleek.bases.network import Network as Network
    from sleek.bases.robust_rbf import RobustRBF as RobustRBF
    from sleek.bases.sigmoidal import Sigmoidal as Sigmoidal
    from sleek.bases.simplex import Simplex as Simplex
    from sleek.bases.units import Coordinates as Coordinates
    from sleek.bases.units import Parameter as Parameter
    from sleek.bases.units import Units as Units
    from sleek.estimators.base import LowRankLSSVM as LowRankLSSVM
    from sleek.estimators.conventions import InconsistentVersionWarning as InconsistentVersionWarning
    from sleek.estimators.dense import LSSVC as LSSVC
    from sleek.estimators.dense import LSSVR as LSSVR
    from sleek.estimators.low_rank import LowRankLSSVC as LowRankLSSVC
    from sleek.estimators.low_rank import LowRankLSSVR as LowRankLSSVR
    from sleek.estimators.merge import merge as merge
    from sleek.model.explanation import Explanation as Explanation
    from sleek.model.kernel_model import KernelModel as KernelModel
    from sleek.model.saving import load as load
    from sleek.outputs.base import Outputs as Outputs
    from sleek.outputs.classes import ClassOutputs as ClassOutputs
    from sleek.outputs.loss import Loss as Loss
    from sleek.outputs.numbers import NumberOutputs as NumberOutputs
    from sleek.rows.dask.dask_rows import DaskRows as DaskRows
    from sleek.rows.files.files import Files as Files
    from sleek.rows.raw import RawBlock as RawBlock
    from sleek.rows.rows import Rows as Rows
    from sleek.tables.inputs import Inputs as Inputs
    from sleek.trainers.alternating import Alternating as Alternating
    from sleek.trainers.base import Limit as Limit
    from sleek.trainers.base import Problem as Problem
    from sleek.trainers.base import Trainer as Trainer
    from sleek.trainers.base import Training as Training
    from sleek.trainers.varpro import VariableProjection as VariableProjection

__version__ = "0.2.0"

# The public names, and the module that each is imported from.
_MODULES = {
    "Alternating": "trainers.alternating",
    "Basis": "bases.base",
    "Box": "bases.box",
    "ClassOutputs": "outputs.classes",
    "Coordinates": "bases.units",
    "Curves": "bases.curves",
    "DaskRows": "rows.dask.dask_rows",
    "DistanceBasis": "bases.distance",
    "Expansion": "bases.expansion",
    "Explanation": "model.explanation",
    "Files": "rows.files.files",
    "Formula": "bases.formula",
    "GaussianRBF": "bases.gaussian_rbf",
    "InconsistentVersionWarning": "estimators.conventions",
    "Inputs": "tables.inputs",
    "KernelModel": "model.kernel_model",
    "LSSVC": "estimators.dense",
    "LSSVR": "estimators.dense",
    "Limit": "trainers.base",
    "Linear": "bases.linear",
    "Loss": "outputs.loss",
    "LowRankLSSVC": "estimators.low_rank",
    "LowRankLSSVM": "estimators.base",
    "LowRankLSSVR": "estimators.low_rank",
    "ModelFileError": "_runtime.json_values",
    "Network": "bases.network",
    "NumberOutputs": "outputs.numbers",
    "Outputs": "outputs.base",
    "Parameter": "bases.units",
    "Part": "bases.expansion",
    "Problem": "trainers.base",
    "RawBlock": "rows.raw",
    "RobustRBF": "bases.robust_rbf",
    "Rows": "rows.rows",
    "Sigmoidal": "bases.sigmoidal",
    "Simplex": "bases.simplex",
    "Trainer": "trainers.base",
    "Training": "trainers.base",
    "Units": "bases.units",
    "VariableProjection": "trainers.varpro",
    "load": "model.saving",
    "merge": "estimators.merge",
}
_ROOMS = ("export", "plots")
__all__ = sorted([*_MODULES, *_ROOMS])


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"sleek.{name}")
    if name in _MODULES:
        return getattr(import_module(f"sleek.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'sleek' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
