# Needs make and Python 3.11 to 3.13, nothing else; uses uv where it is installed.
# PYTHON=/path/to/python chooses the interpreter.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test check style rules core shell format schemas lock tools clean

# The arrays are small: more threads only wait for each other, above all where parts run side by side.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1

VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements-dev.lock
EXISTING_CODE := $(wildcard monitor tests benchmarks)
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
PURE := domain engine grading prompting stats surrogate wire
QUICK = $(BIN)/python -I -m pytest --strict-config --strict-markers --quiet -m "not slow" --hypothesis-profile quick
HAS_UV = uv --version >/dev/null 2>&1
# Pins are complete, so neither installer resolves anything; each file must match its hash.
FROM_LOCK := --no-deps --require-hashes --requirement
# The build backend comes from the lock too: nothing unpinned is fetched.
EDITABLE := --no-deps --no-build-isolation --editable .
# The image gets the same versions as the tests: those of the development lock.
COMPILE = uv pip compile --universal --python-version 3.11 --quiet --generate-hashes \
  --no-emit-index-url --no-emit-find-links --no-header

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.installed ## make .venv with everything that the lock file names
	@:

demo: setup ## the whole product in one process: no broker, no network, no preparation
	@$(BIN)/variant-monitor demo

test: setup $(VENV)/.torch $(VENV)/.deploy ## every test, in one run
	@$(BIN)/python -I -m pytest --strict-config --strict-markers

check: setup $(VENV)/.torch ## style, types, layers, rules and the quick unit tests: what to run before each commit
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target shell rules core style

style: setup $(VENV)/.torch ## the part of check that runs no product code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(EXISTING_CODE)
	$(BIN)/lint-imports --no-logo

rules: setup $(VENV)/.torch ## the part of check that tests the repository itself
	$(BIN)/python -I -m pytest --strict-config --strict-markers --quiet tests/rules

core: setup $(VENV)/.torch ## the part of check that tests what is pure
	$(QUICK) $(wildcard $(addprefix tests/unit/,$(PURE)))

shell: setup $(VENV)/.torch ## the part of check that tests everything else
	$(QUICK) tests/unit $(addprefix --ignore tests/unit/,$(PURE))

format: setup ## let ruff rewrite what it can
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

schemas: setup ## write the JSON Schemas anew after a change of the wire formats
	$(BIN)/python tests/rules/test_schemas.py

lock: ## resolve the dependencies anew (needs uv)
	$(COMPILE) pyproject.toml --group dev --upgrade --output-file $(LOCK)
	$(COMPILE) pyproject.toml --constraint $(LOCK) --output-file requirements.lock
	$(COMPILE) pyproject.toml --extra torch --extra entailment --constraint $(LOCK) --output-file requirements-torch.lock
	$(COMPILE) --group build --constraint $(LOCK) --output-file requirements-build.lock
	$(COMPILE) --group deploy --constraint $(LOCK) --upgrade --output-file requirements-deploy.lock

tools: ## install what some tests need besides Python (Debian, as root): Prometheus, Java
	apt-get update
	DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
	  prometheus prometheus-alertmanager default-jre-headless maven

clean: ## remove .venv and every cache
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find monitor tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The oldest supported Python comes first, so that nothing newer slips into the code.
$(BIN)/python:
	@rm -rf $(VENV); \
	for python in $(or $(PYTHON),python3.11 python3.12 python3.13 python3); do \
	  "$$python" -c '$(SUPPORTED)' 2>/dev/null || continue; \
	  echo "making $(VENV) with $$python"; \
	  if $(HAS_UV); then uv venv --quiet --python "$$python" $(VENV) && exit; \
	  else "$$python" -m venv $(VENV) && exit; fi; \
	  rm -rf $(VENV); \
	done; \
	echo "found no Python 3.11, 3.12 or 3.13 that can make a virtual environment;" >&2; \
	echo "install one (Debian: python3 and python3-venv) or pass PYTHON=/path/to/python" >&2; \
	exit 1

# Torch, and Helm with the schemas of Kubernetes, are larger than all the rest, and `make demo` and
# most of the product do without them.
$(VENV)/.locked: $(LOCK)
$(VENV)/.torch: requirements-torch.lock | $(VENV)/.locked
$(VENV)/.deploy: requirements-deploy.lock | $(VENV)/.locked $(VENV)/.torch
$(VENV)/.locked $(VENV)/.torch $(VENV)/.deploy: | $(BIN)/python
	@if $(HAS_UV); then uv pip install --quiet --python $(BIN)/python $(FROM_LOCK) $<; \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check $(FROM_LOCK) $<; fi
	@touch $@

$(VENV)/.installed: $(VENV)/.locked pyproject.toml
	@if $(HAS_UV); then uv pip install --quiet --python $(BIN)/python $(EDITABLE); \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check $(EDITABLE); fi
	@touch $@
