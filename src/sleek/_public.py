"""The public names: what `sleek.<name>` means. Imported on the first use of one of them."""

from sleek import export
from sleek.bases.base import Basis, Parameter, Units
from sleek.bases.gaussian_rbf import GaussianRBF
from sleek.bases.robust_rbf import RobustRBF
from sleek.bases.sigmoidal import Sigmoidal
from sleek.bases.simplex import Simplex
from sleek.estimators.dense import LSSVC, LSSVR
from sleek.estimators.low_rank import LowRankLSSVC, LowRankLSSVR
from sleek.model.explanation import Explanation
from sleek.model.json_file import load
from sleek.model.kernel_model import KernelModel
from sleek.model.strict_json import ModelFileError
from sleek.rows.files import ParquetSource
from sleek.trainers.alternating import Alternating
from sleek.trainers.varpro import VariableProjection

__all__ = [
    "LSSVC",
    "LSSVR",
    "Alternating",
    "Basis",
    "Explanation",
    "GaussianRBF",
    "KernelModel",
    "LowRankLSSVC",
    "LowRankLSSVR",
    "ModelFileError",
    "Parameter",
    "ParquetSource",
    "RobustRBF",
    "Sigmoidal",
    "Simplex",
    "Units",
    "VariableProjection",
    "export",
    "load",
]
