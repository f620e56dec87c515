"""Sources of arrays and samples of them, for tests of trainers and of the closed form."""

import numpy as np

from sleek._runtime.threads import Workers
from sleek.outputs import ClassOutputs, Labels, NumberOutputs
from sleek.rows.arrays import array_source
from sleek.rows.sample import Sample


def class_source(X, y, s=None, counts=False, **options):
    """Rows with class labels; `counts` of them are known, as they are in a fit, or not."""
    labels, found = np.unique(y, return_counts=True)
    outputs = ClassOutputs(labels, class_counts=found if counts else None)
    return array_source(X, Labels.of(np.asarray(y)), s, outputs=outputs, **options)


def number_source(X, Y, s=None, **options):
    """Rows with targets (n, k)."""
    weights = np.ones(len(X)) if s is None else s
    outputs = NumberOutputs.learn(NumberOutputs.survey(Y, weights), flat=False)
    return array_source(X, Y, s, outputs=outputs, **options)


def sample_of(source, block_rows=None, n_jobs=1):
    """All rows of a source as a sample."""
    sample = Sample.draw(source, source.n_rows, 0, Workers(n_jobs))
    return sample if block_rows is None else Sample(**{**vars(sample), "block_rows": block_rows})
