# `make repro` and `make test` each do everything from a bare clone. `make help` lists the rest.
SHELL := /bin/bash
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
ENGINE := $(wildcard hexdata/engine/CMakeLists.txt hexdata/engine/VERSION hexdata/engine/src/*)
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: help setup repro wheel pull test test-all sanitize fuzz lint bench clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.built ## .venv with the pinned packages, the built engine and the `hexdata` command

$(VENV)/.installed: requirements.lock
	@command -v $(PYTHON) >/dev/null || { echo "hexdata needs Python 3.11: install the package python3.11 (and python3.11-venv), or set PYTHON=..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements.lock
	@touch $@

$(VENV)/.built: $(VENV)/.installed pyproject.toml $(ENGINE)
	@command -v $${CXX:-c++} >/dev/null || { echo "hexdata needs a C++20 compiler: install the package g++ (Debian, Ubuntu), gcc-c++ (Fedora) or Xcode's command line tools (macOS)"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# In a folder of their own: see the file.
$(VENV)/.compat: $(VENV)/.installed requirements-compat.lock
	rm -rf $(VENV)/compat
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(VENV)/compat -r requirements-compat.lock
	@touch $@

repro: setup ## games, examples, dataset, suite, network, report and release of the active campaigns
	@python -m flows.repro

wheel: setup ## dist/hexdata-….whl: what a worker on another machine installs
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist/*.whl

pull: setup ## fetch what the DVC remote already has
	dvc pull

lint: setup ## ruff and mypy
	ruff check .
	ruff format --check .
	mypy

# One worker more than two cores: the tests of the flows, which one worker runs, mostly wait for servers and processes.
TESTS := pytest --numprocesses 3
test: lint $(VENV)/.compat ## the tests that take minutes
	$(TESTS)

test-all: lint $(VENV)/.compat ## and the slow ones, up to 90 minutes
	$(TESTS) -m ''

# A sanitized module needs the runtime libraries before Python's own; the interpreter's own leaks are not ours to find.
SANITIZED := build/sanitize
sanitize: setup ## the engine under the address and undefined-behaviour sanitizers, some minutes
	cmake -S hexdata/engine -B $(SANITIZED) -DHEXDATA_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python
	cmake --build $(SANITIZED) --target hexdata_checks _core --parallel 2
	$(SANITIZED)/hexdata_checks positions 3 0 1
	$(SANITIZED)/hexdata_checks positions 4 11 4000
	$(SANITIZED)/hexdata_checks random 3 50
	$(SANITIZED)/hexdata_checks widths
	$(SANITIZED)/hexdata_checks play 1 1000
	$(SANITIZED)/hexdata_checks connections 1 300
	$(SANITIZED)/hexdata_checks table 1000000
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libstdc++.so.6)" \
	  python -m tests.engine.sanitized $(SANITIZED)

# Half of the time each: play and undo under the rules (guided by coverage where clang has libFuzzer), and the readers of
# games and moves.
SECONDS ?= 600
SEED ?= 1
FUZZED := $(addprefix hexdata/engine/src/,board.cpp keys.cpp rng.cpp) $(addprefix tests/engine/,brute.cpp fuzz_board.cpp)
fuzz: setup ## random input for SECONDS=600, from SEED=1
	@mkdir -p build/fuzz/corpus
	@echo "seed $(SEED), $(SECONDS) seconds"
	@if clang++ -std=c++20 -O1 -g1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Ihexdata/engine/src \
	    $(FUZZED) -o build/fuzz/board 2>build/fuzz/clang.log; then \
	  build/fuzz/board -seed=$(SEED) -max_total_time=$$(($(SECONDS) / 2)) -max_len=1000 -timeout=60 \
	    -artifact_prefix=build/fuzz/ -print_final_stats=1 build/fuzz/corpus; \
	else \
	  $${CXX:-c++} -std=c++20 -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -Ihexdata/engine/src \
	    -DHEXDATA_FUZZ_MAIN $(FUZZED) -o build/fuzz/board && build/fuzz/board $(SEED) $$(($(SECONDS) / 2)); \
	fi
	python -m tests.formats.fuzz $(SEED) $$(($(SECONDS) / 2))

bench: setup ## speed, as ratios and figures
	python -m benchmarks.engine
	python -m benchmarks.solver
	python -m benchmarks.generation --quick

clean: ## remove what make built, but no data
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
