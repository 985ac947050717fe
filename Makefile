# `make train` and `make test` do everything; the rest is for those who work on ppybuild.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: train test lint fuzz benchmark docs update clean

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

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m "not slow"

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(STAMP)  ## pages made from tables
	$(BIN)/python docs/diagnostics_page.py

clean:
	rm -rf build $(VENV)
