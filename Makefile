# Two commands do everything on a fresh machine with Python 3.11 and make: make demo, make test.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

.PHONY: demo test test-spark check bench reproduce clean

demo: .venv/.base
	$(BIN)/alphalift demo --out demo

test: .venv/.test
	$(BIN)/python -m pytest

# A local cluster of its own; needs Java 17 or newer.
test-spark: .venv/.test .venv/.spark
	$(BIN)/python -m pytest -n 0 tests_spark

check: .venv/.check
	$(BIN)/ruff format --check src tests tests_spark benchmarks
	$(BIN)/ruff check src tests tests_spark benchmarks
	$(BIN)/mypy

bench: .venv/.bench
	$(BIN)/python benchmarks/algorithm1.py
	$(BIN)/python benchmarks/optimal.py
	$(BIN)/python benchmarks/alternatives.py
	$(BIN)/python benchmarks/dominance.py
	$(BIN)/python benchmarks/field.py
	$(BIN)/python benchmarks/sweep.py speedup
	$(BIN)/python benchmarks/scale.py

# The committed run of the paper's experiment, the optimum in all its 95,000 cells: about an hour on two cores, and what was
# finished is kept. Without --every-cell it takes ten minutes.
reproduce: .venv/.base
	$(BIN)/alphalift reproduce --distributions 100 --seed 0 --every-cell --resume cells --out docs/reproduction

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.base: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) .
	touch $@

.venv/.%: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) ".[$*]"
	touch $@

clean:
	rm -rf .venv demo build dist cells
