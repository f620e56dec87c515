# Every target sets itself up: nothing but Python >= 3.11 and make is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RIVALS := .venv-rivals
READABLE := .venv-readable
DOCS := .venv-docs

.PHONY: demo paper paper-quick test lint format rivals accuracy accuracy-quick readable uncertainty rotated bench-network bench bench-compare bench-dask bench-export bench-tables report-samples pages docs wheel clean

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("sleek needs Python 3.11 or newer, this is " + sys.version) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[experiments]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.demo

# Rivals have an environment of their own, so that nothing they need can change what sleek is tested with. Of the
# last ones any may be missing: where one does not install, the tables say so. What is installed already stays as
# it is (constraints), so that none of them can replace what another needs. torch comes before what needs it.
$(RIVALS)/bin/python: | $(BIN)/python
	$(BIN)/python -m venv $(RIVALS)

$(RIVALS)/.ready: pyproject.toml | $(RIVALS)/bin/python
	$(RIVALS)/bin/python -m pip install -q --disable-pip-version-check -e '.[benchmarks]'
	$(RIVALS)/bin/python -m pip freeze --exclude-editable > $(RIVALS)/installed.txt
	for package in neo-ls-svm fastrvm torch==2.13.0 xrfm pytabkit; do \
	    $(RIVALS)/bin/python -m pip install -q --disable-pip-version-check -c $(RIVALS)/installed.txt $$package \
	    || echo "$$package is not installed: the tables will say so."; \
	done
	@touch $@

# The readable rivals have another: igann and FasterRisk need a NumPy before 2.3, pygam a SciPy before 1.17. FasterRisk
# asks for scikit-learn 1.2 and pandas 1.5 exactly, beside which nothing else would run, but works without them.
$(READABLE)/bin/python: | $(BIN)/python
	$(BIN)/python -m venv $(READABLE)

$(READABLE)/.ready: pyproject.toml | $(READABLE)/bin/python
	$(READABLE)/bin/python -m pip install -q --disable-pip-version-check -e '.[experiments]' catboost interpret-core \
	    'numpy<2.3' 'scipy<1.17' 'scikit-learn<1.8'
	$(READABLE)/bin/python -m pip freeze --exclude-editable > $(READABLE)/installed.txt
	for package in imodels aplr erbf pygam torch==2.13.0 igann '--no-deps fasterrisk'; do \
	    $(READABLE)/bin/python -m pip install -q --disable-pip-version-check -c $(READABLE)/installed.txt $$package \
	    || echo "$$package is not installed: the tables will say so."; \
	done
	@touch $@

demo: $(VENV)/.demo  ## the paper's first experiment on Ripley's data, with a picture
	$(BIN)/python -m paper.demo

paper: $(VENV)/.dev  ## checks of the comparators, then every table and figure of the paper: under an hour, can be interrupted
	$(BIN)/python -m pytest -q -n 2 -o addopts="" paper/tests
	$(BIN)/python -m paper

paper-quick: $(VENV)/.demo  ## the same with a few partitions and boosting rounds: about a minute
	$(BIN)/python -m paper --quick --results results/quick

test: $(VENV)/.dev  ## the whole test suite, on two cores
	$(BIN)/python -m pytest -q -n 2

lint: $(VENV)/.dev  ## style, format, types, and which way imports go
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev  ## mend style and format in place
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

rivals: $(RIVALS)/.ready  ## the environment of the methods that sleek is compared with

accuracy: $(RIVALS)/.ready  ## sleek's defaults against 16 methods on 78 problems: many hours, can be interrupted
	$(RIVALS)/bin/python -m benchmarks.accuracy

accuracy-quick: $(RIVALS)/.ready  ## the fast methods on small problems, two splits: minutes
	$(RIVALS)/bin/python -m benchmarks.accuracy --quick

readable: $(READABLE)/.ready  ## sleek against methods that promise small and readable models: hours, can be interrupted
	$(READABLE)/bin/python -m benchmarks.readable

uncertainty: $(RIVALS)/.ready  ## probabilities and intervals against other methods: two hours, can be interrupted
	$(RIVALS)/bin/python -m benchmarks.uncertainty

rotated: $(RIVALS)/.ready  ## sigmoidal units against neural networks of the same size: minutes
	$(RIVALS)/bin/python -m benchmarks.rotated

bench-network: $(RIVALS)/.ready  ## units of a network against networks of the same size: ten minutes
	$(RIVALS)/bin/python -m benchmarks.network

bench: $(RIVALS)/.ready  ## speed against other methods, C and BLAS, as ratios: 40 minutes on a quiet machine
	$(RIVALS)/bin/python -m benchmarks.speed

BASE ?= HEAD
bench-compare: $(VENV)/.dev  ## speed of this tree against another commit: BASE=COMMIT, ONLY=text in a name; five minutes
	$(BIN)/python -m benchmarks.compare $(BASE) $(if $(ONLY),--only "$(ONLY)")

bench-dask: $(VENV)/.dev  ## fits on a cluster of this machine against fits in memory: ten minutes
	$(BIN)/python -m benchmarks.dask_scale

bench-tables: $(VENV)/.dev  ## tables with categories and gaps against HistGradientBoosting: half an hour
	$(BIN)/python -m benchmarks.tables

bench-export: $(RIVALS)/.ready  ## size and speed of exported models: a minute
	$(RIVALS)/bin/python -m benchmarks.export

report-samples: $(VENV)/.dev  ## reports on the Titanic, diamonds and a wide table, in results/reports
	$(BIN)/python -m studies.reports

pages: $(VENV)/.dev  ## run the examples of README and docs, and write down what they print
	$(BIN)/python -m studies.pages

# The same commit gives the same bytes: times in the archives are that of the commit.
BUILDER := .venv-build
wheel: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1577836800)
$(BUILDER)/.ready: pyproject.toml
	$(PYTHON) -m venv $(BUILDER)
	$(BUILDER)/bin/python -m pip install -q --disable-pip-version-check 'hatchling>=1.27'
	@touch $@

wheel: $(BUILDER)/.ready  ## wheel and sdist into dist, built twice: the bytes must be the same
	rm -rf dist build/again
	$(BUILDER)/bin/python -m hatchling build -d dist
	$(BUILDER)/bin/python -m hatchling build -d build/again
	for file in dist/*; do cmp $$file build/again/$$(basename $$file) || exit 1; done

# The site has an environment of its own, too. One thread: on a busy machine several only wait for each other.
$(DOCS)/.ready: pyproject.toml | $(BIN)/python
	$(BIN)/python -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install -q --disable-pip-version-check -e '.[docs]'
	@touch $@

docs: $(DOCS)/.ready  ## the site into build/site: every example is run, warnings are errors, links are checked
	rm -rf build/site docs/gallery docs/reference/api docs/live
	OMP_NUM_THREADS=1 $(DOCS)/bin/python -m studies.pages --check
	OMP_NUM_THREADS=1 $(DOCS)/bin/python -m sphinx -W --keep-going -q -b html docs build/site
	$(DOCS)/bin/python -m studies.links build/site

clean:
	rm -rf $(VENV) $(RIVALS) $(READABLE) $(BUILDER) $(DOCS) build docs/gallery docs/reference/api docs/live dist results .pytest_cache .mypy_cache .ruff_cache .hypothesis
