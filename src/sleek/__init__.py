"""sleek: sparse least-squares kernel machines.

Kernel machines with a handful of learnable units instead of thousands of support vectors.
"""

from sleek.bases.base import Basis, Parameter, Units
from sleek.bases.gaussian_rbf import GaussianRBF
from sleek.bases.robust_rbf import RobustRBF
from sleek.bases.sigmoidal import Sigmoidal
from sleek.bases.simplex import Simplex
from sleek.dense import LSSVC, LSSVR
from sleek.estimators import LowRankLSSVC, LowRankLSSVR
from sleek.files import ParquetSource
from sleek.model import KernelModel
from sleek.trainers.alternating import Alternating
from sleek.trainers.varpro import VariableProjection

__version__ = "0.1.0"

__all__ = [
    "LSSVC",
    "LSSVR",
    "Alternating",
    "Basis",
    "GaussianRBF",
    "KernelModel",
    "LowRankLSSVC",
    "LowRankLSSVR",
    "Parameter",
    "ParquetSource",
    "RobustRBF",
    "Sigmoidal",
    "Simplex",
    "Units",
    "VariableProjection",
]
