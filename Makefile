# Two commands do everything on a fresh machine with Python 3.11 and make: make demo, make test.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

.PHONY: demo test test-browser test-spark verified wheel-test check docs pictures bench reproduce clean clean-kernels

demo: .venv/.base
	$(BIN)/alphalift demo --out demo

test: .venv/.test
	$(BIN)/python -m pytest

# The page in a real Chromium: installs Debian's where it is missing and it may; else says what is needed. Pictures go to build/page.
test-browser: .venv/.web,browser
	tests_browser/needs.sh
	$(BIN)/python -m pytest -n 0 -s tests_browser

# A local cluster of its own; needs Java 17 or newer.
test-spark: .venv/.test .venv/.spark
	$(BIN)/python -m pytest -n 0 tests_spark

# The proofs in Coq, the program that they are about, that broken ones fail, and that it agrees with the Python checkers.
# Installs Debian's Coq where it is missing and it may; else says what is needed. Two minutes of one core.
verified: .venv/.test
	verified/needs.sh
	$(MAKE) -C verified -j1 all broken
	$(BIN)/python verified/agreement.py

# A wheel, alone in new environments: with the oldest versions that are declared, and with the newest that there are.
wheel-test: .venv/bin/python
	$(BIN)/python tests_wheel/run.py oldest newest

# The pages as a site in build/docs; a warning is an error. Their pictures are committed: `make pictures` draws them again.
docs: .venv/.docs
	$(BIN)/python -m sphinx --quiet --fresh-env --fail-on-warning --keep-going -b html docs build/docs
	@echo "Written: build/docs/index.html"

pictures: .venv/.base
	$(BIN)/python docs/draw.py

check: .venv/.check
	$(BIN)/ruff format --check src tests tests_browser tests_spark tests_wheel benchmarks verified docs/*.py
	$(BIN)/ruff check src tests tests_browser tests_spark tests_wheel benchmarks verified docs/*.py
	$(BIN)/mypy

# Every benchmark, at sizes that take half an hour on two free cores, by estimate. Campaigns are the same commands at the
# sizes of each file's first lines, minutes to an hour each; benchmarks/*.txt and docs/field.md keep them, each under the
# head that benchmarks/where.py makes. The last two need Java 17.
bench: .venv/.bench .venv/.spark
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/algorithm1.py
	$(BIN)/python benchmarks/optimal.py 6x10 2x1000 3x100 6x40 6x100 10x200 census
	$(BIN)/python benchmarks/binary.py 20000
	$(BIN)/python benchmarks/limits.py 10
	$(BIN)/python benchmarks/large.py 10x200 --seconds 20
	$(BIN)/python benchmarks/alternatives.py 10
	$(BIN)/python benchmarks/curve.py 6x10 --accuracy 0.01 --seconds 30 --points 19
	$(BIN)/python benchmarks/corners.py --seconds 5
	$(BIN)/python benchmarks/local.py 20 --seconds 5
	$(BIN)/python benchmarks/population.py --draws 3 --truths 3x8 --records 10000 --alphas inf --epsilons 0.1
	$(BIN)/python benchmarks/receiver.py --releases 50
	$(BIN)/python benchmarks/audit.py --cases 20 --promises 2
	$(BIN)/python benchmarks/dominance.py 60
	$(BIN)/python benchmarks/averages.py 3 --seconds 5
	$(BIN)/python benchmarks/utilities.py 3 --sizes 10x200=5
	$(BIN)/python benchmarks/field.py 2
	$(BIN)/python benchmarks/disclosure.py 10
	$(BIN)/python benchmarks/proofs.py problems --count 200 --second 50
	$(BIN)/python benchmarks/proofs.py mutations --count 500
	$(BIN)/python benchmarks/proofs.py timing 6x10
	$(BIN)/python benchmarks/scale.py records
	$(BIN)/python benchmarks/scale.py symbols
	$(BIN)/python benchmarks/verified.py designs --count 5
	$(BIN)/python benchmarks/verified.py forgeries --count 500
	$(BIN)/python benchmarks/sweep.py kill --count 5
	$(BIN)/python benchmarks/sweep.py speedup --count 4
	$(BIN)/python benchmarks/sweep.py dask --count 4
	$(BIN)/python benchmarks/release.py arrays --rows 1000000
	$(BIN)/python benchmarks/release.py law --rows 10000000
	$(BIN)/python benchmarks/release.py parquet --rows 10000000
	$(BIN)/python benchmarks/release.py csv --rows 2000000
	$(BIN)/python benchmarks/release.py text --rows 2000000
	$(BIN)/python benchmarks/release.py count --rows 10000000
	$(BIN)/python benchmarks/release.py kill --rows 10
	$(BIN)/python benchmarks/spark.py identical --rows 1000000
	$(BIN)/python benchmarks/spark.py speed --rows 1000000

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

# numba keeps compiled kernels beside their sources, and notices only a change in a kernel's own file, not in those of the
# kernels that it calls.
clean-kernels:
	find src -name '*.nb[ci]' -delete

clean: clean-kernels
	rm -rf .venv demo build dist cells
