# `make train` and `make test` do everything; the rest is for those who work on ppybuild.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BORROWED := $(VENV)/.borrowed

.PHONY: train test test-slow lint fuzz benchmark benchmark-large sweep docs update clean

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

train: $(STAMP)  ## build the entry `train`, run it under python and natively
	$(BIN)/ppybuild build train
	@echo "== python"
	$(BIN)/python examples/training_torch/train.ppy
	@echo "== native"
	$(BIN)/ppybuild run train

test: $(STAMP)  ## every test but the slow ones
	$(BIN)/python -m pytest -n 2 -m "not slow"

$(BORROWED): $(STAMP) tests/convert/packages.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --requirement tests/convert/packages.txt
	touch $@

test-slow: $(BORROWED)  ## the slow ones too: the better part of an hour
	$(BIN)/python -m pytest -n 2

EXAMPLES ?= 2000
fuzz: $(STAMP)  ## generated programs against CPython, new ones each time: hours
	PPY_FUZZ_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -n 0 tests/fuzz tests/emit/runtime/standalone/test_values.py

update: $(STAMP)  ## rewrite golden expectations and the examples' typed sources, for review
	$(BIN)/python -m pytest -n 0 --update -m "not slow" tests/convert tests/emit tests/graph tests/test_examples.py

benchmark: $(STAMP)  ## measure the programs in SEED; writes docs/benchmarks.md, README's table
	@test -n "$(SEED)" || { echo "make benchmark SEED=folder-of-the-programs"; exit 2; }
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python benchmarks/compare.py --seed $(SEED) --write

benchmark-large: $(STAMP)  ## check a generated project of 100,000 lines; writes docs/benchmarks-large.md
	$(BIN)/python benchmarks/large.py --write

sweep: $(STAMP)  ## convert and check every module of the standard library; writes docs/sweep.md
	$(BIN)/python benchmarks/sweep.py --write

lint: $(STAMP)  ## format, lint, types, the one-way imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(STAMP)  ## pages made from tables
	$(BIN)/python docs/diagnostics_page.py

clean:
	rm -rf build $(VENV)
