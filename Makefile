# `make demo` and `make test` work from a fresh clone with git, make and Python 3.11 or newer.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test unit test-models lint types coverage lit docs vendor fuzz clean
.PHONY: bench bench-growth bench-models bench-native bench-kernels

demo: .venv/installed-onnx
	@$(BIN)/python examples/resnet50.py

# All three run even if one fails; pytest is last, so that the failed tests end the output.
test: .venv/installed-test
	@failed=; for check in lint types unit; do \
		$(MAKE) --no-print-directory $$check || failed="$$failed $$check"; \
	done; \
	test -z "$$failed" || { echo "make test: failed:$$failed" >&2; exit 1; }

unit: .venv/installed-test
	@$(BIN)/python -m pytest -n auto

test-models: .venv/installed-test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m models -rP

lint: .venv/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-test
	$(BIN)/pyright --pythonpath $(BIN)/python

coverage: .venv/installed-test
	$(BIN)/python -m pytest -n auto -q --cov=passmanager --cov-branch --cov-report=term-missing:skip-covered

lit: .venv/installed-test
	$(BIN)/lit tests/filecheck

# The table of ONNX operators, and the site with the reference, which is generated while it is built.
docs: .venv/installed-test .venv/installed-docs
	$(BIN)/python tests/conformance/onnx_backend.py --write
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo build/site/index.html

# The JavaScript libraries of the report, as its manifest names them; needs npm.
vendor:
	$(PYTHON) passmanager/report/vendor/fetch.py

# FILTER="read tensor" selects rows, MAX_OPS=100000 bounds the inputs; without both there is a
# selection of rows, in about two minutes. XDSL_TESTS is the path of xDSL's source distribution,
# if the tests have not downloaded it.
# OPTIONS=--write puts the rows into docs/performance.md.
bench: .venv/installed-bench
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/bench.py $(FILTER) \
		$(if $(MAX_OPS),--max-ops $(MAX_OPS)) $(if $(XDSL_TESTS),--xdsl-tests $(XDSL_TESTS)) $(OPTIONS)

bench-growth: .venv/installed-bench
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/bench.py growth $(FILTER) \
		--growth --max-ops $(or $(MAX_OPS),1000000) $(OPTIONS)

bench-models: .venv/installed-bench
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/models.py

bench-native: .venv/installed-test .venv/installed-bench
	$(BIN)/python benchmarks/native.py

bench-kernels: .venv/installed-test .venv/installed-bench
	$(BIN)/python benchmarks/kernels.py $(FILTER)

SEED ?= 0
COUNT ?= 1000000
SECONDS ?= 600
fuzz: .venv/installed-test
	PYTHONPATH=tests $(BIN)/python -m fuzz --seed $(SEED) --count $(COUNT) --seconds $(SECONDS) $(OPTIONS)

.venv/installed-docs: pyproject.toml | .venv/created
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@ .venv/installed

.venv/installed-bench: pyproject.toml | .venv/created
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@ .venv/installed

.venv/created:
	$(PYTHON) -m venv .venv
	@touch $@

.venv/installed: pyproject.toml | .venv/created
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/installed-onnx: pyproject.toml | .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check 'onnx'
	@touch $@

.venv/installed-test: pyproject.toml | .venv/created
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test]'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable examples/plugin
	@touch $@ .venv/installed

clean:
	rm -rf .venv build *.egg-info .pytest_cache .ruff_cache
