# `make reproduce` runs the main job, `make test` passes the tests; both install what they need into .venv first, with
# the fastest Python of those that roambus is tested with, or the one given as PYTHON=. `make docs` builds the documentation site.
VENV := .venv

.PHONY: docs install test test-slow reproduce wire

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml
	$(or $(PYTHON),$(shell ./fastest_python.sh)) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENV)/bin/python -m pip install --quiet --editable . --group dev
	touch $@

test: install
	omnet/dependencies.sh
	tests/chromium.sh
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/pytest -n 2 --dist worksteal

# What takes longest: a sweep under kill -9, failing and doubled runs on a cluster, blows to runs, the fuzzer, some benchmarks.
test-slow: install
	omnet/dependencies.sh
	$(VENV)/bin/pytest -n 2 -m slow

# After a change of bridge/wire/wire.proto or bridge/record/record.proto.
wire: install
	$(VENV)/bin/python -m grpc_tools.protoc -I bridge/wire --python_out=bridge/wire --pyi_out=bridge/wire wire.proto
	$(VENV)/bin/python -m grpc_tools.protoc -I bridge/record --python_out=bridge/record --pyi_out=bridge/record record.proto

reproduce: install
	$(VENV)/bin/roambus reproduce thesis --quick --out results/thesis-quick

docs: install
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build --strict --quiet
	@echo build/site/index.html
