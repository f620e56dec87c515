# Every target sets itself up: nothing but Python >= 3.11 and make is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo paper test lint format accuracy rotated bench bench-export clean

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("sleek needs Python 3.11 or newer, this is " + sys.version) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[experiments]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.demo

# The last two rivals are optional: where they do not install, the tables say so. One command for all, so that
# none of them can replace what another needs.
$(VENV)/.benchmarks: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev,benchmarks]' neo-ls-svm fastrvm \
	|| $(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev,benchmarks]'
	@touch $@ $(VENV)/.dev $(VENV)/.demo

demo: $(VENV)/.demo  ## the paper's first experiment on Ripley's data, with a picture
	$(BIN)/python -m paper.demo

paper: $(VENV)/.demo  ## every table and figure of the paper: under an hour, can be interrupted
	$(BIN)/python -m paper all

test: $(VENV)/.dev  ## the whole test suite, on two cores
	$(BIN)/python -m pytest -q -n 2

lint: $(VENV)/.dev  ## style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev  ## mend style and format in place
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

accuracy: $(VENV)/.benchmarks  ## sleek's defaults against 12 methods on 43 problems: hours, can be interrupted
	$(BIN)/python benchmarks/accuracy.py

rotated: $(VENV)/.benchmarks  ## sigmoidal units against neural networks of the same size: minutes
	$(BIN)/python benchmarks/rotated.py

bench: $(VENV)/.benchmarks  ## speed against other methods, C and BLAS, as ratios: 40 minutes on a quiet machine
	$(BIN)/python benchmarks/speed.py

bench-export: $(VENV)/.benchmarks  ## size and speed of exported models: a minute
	$(BIN)/python benchmarks/export.py

clean:
	rm -rf $(VENV) build dist results .pytest_cache .mypy_cache .ruff_cache .hypothesis
