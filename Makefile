# `make reproduce` runs the main job, `make test` passes the tests. Each first installs into .venv what it needs: to run
# (`make install`), and what tests and documentation need beyond that (`make install-dev`); with the fastest Python of
# those that roambus is tested with, or the one given as PYTHON=. `make docs` builds the documentation site.
VENV := .venv
INSTALL = ./install.sh "$(shell ./fastest_python.sh $(PYTHON))" $(VENV)

.PHONY: docs install install-dev lock results-check test test-slow reproduce wire

# Spark starts faster with an archive of its classes, and works without: `make reproduce` does not wait for it.
install: $(VENV)/installed
	$(VENV)/bin/python -m roambus.spark.engine.class_archive

$(VENV)/installed: pyproject.toml requirements-build.lock requirements.lock
	$(INSTALL)
	touch $@

install-dev: install $(VENV)/installed-dev

$(VENV)/installed-dev: $(VENV)/installed requirements-dev.lock
	$(INSTALL) requirements-dev.lock
	touch $@

# Renews the lock files: LOCK="--upgrade" takes the newest of everything, LOCK="--upgrade-package NAME" of one package.
# What pyproject.toml has newly is added in any case, and nothing else changes. What running needs has one version in all.
COMPILE = $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links --system-certs $(LOCK)

lock: $(VENV)/installed
	$(COMPILE) --group build --output-file requirements-build.lock
	$(COMPILE) pyproject.toml --output-file requirements.lock
	$(COMPILE) --group dev --constraint requirements.lock --constraint requirements-build.lock \
		--output-file requirements-dev.lock

# Three workers on two cores: many tests wait for processes and sockets.
test: install-dev
	omnet/dependencies.sh
	tests/chromium.sh
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/pytest -n 3 --dist worksteal

# What takes longest: the tutorial, sweeps under kill -9, on a cluster and in a job array, damaged files, the fuzzer, and more.
test-slow: install-dev
	omnet/dependencies.sh
	$(VENV)/bin/pytest -n 2 -m slow --hypothesis-profile=searching

# After a change of bridge/wire/wire.proto or extensions/recording/record.proto.
wire: install-dev
	$(VENV)/bin/python -m grpc_tools.protoc -I bridge/wire --python_out=bridge/wire --pyi_out=bridge/wire wire.proto
	$(VENV)/bin/python -m grpc_tools.protoc -I extensions/recording --python_out=extensions/recording --pyi_out=extensions/recording record.proto

reproduce: $(VENV)/installed
	$(VENV)/bin/roambus reproduce thesis --quick --out results/thesis-quick

# Which pages and pictures show runs that today's code would make differently, and the commands that renew them.
results-check: $(VENV)/installed
	$(VENV)/bin/python -m docs.writers.keys check

docs: install-dev
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build --strict --quiet
	@echo build/site/index.html
