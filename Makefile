# `make repro` and `make test` each do everything from a bare clone. `make help` lists the rest.
SHELL := /bin/bash
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
ENGINE := $(wildcard hexdata/engine/CMakeLists.txt hexdata/engine/src/*)
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: help setup repro pull test test-all lint bench clean

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

repro: setup ## games, examples, dataset, suite, network, report and release of the active campaigns
	@python -m flows.repro

pull: setup ## fetch what the DVC remote already has
	dvc pull

lint: setup ## ruff and mypy
	ruff check .
	ruff format --check .
	mypy

test: lint ## the tests that take minutes
	pytest

test-all: lint ## and the slow ones, up to 90 minutes
	pytest -m ''

bench: setup ## speed, as ratios and figures
	python -m benchmarks.engine
	python -m benchmarks.solver

clean: ## remove what make built, but no data
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
