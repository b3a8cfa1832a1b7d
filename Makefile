# Two commands for a bare machine with Python 3.11+, cargo and a C compiler:
#   make test        set up everything, run all tests
#   make reproduce   set up everything, run the papers again, say where the report is
# Both leave .venv/bin/cwndlab behind. `make linux` builds the kernel of the Linux backend, once. All else: setup, fast (a build that
# takes longer and is up to a tenth faster), lint, bench, docs (refresh the outputs shown there),
# site (the documentation as a website), wheel (a package that needs no Rust), try-wheel (install and run it),
# sensitivity (every alternative to what the papers leave open: long), clean; and with tools that docs/supply-chain.md
# names: lock (what is installed), notices (licences of others), audit (known advisories).

PYTHON ?= python3
BIN := .venv/bin
LOCK := requirements/dev.lock
LOCKED := .venv/locked
BUILT := .venv/built
DEVELOP = VIRTUAL_ENV="$(CURDIR)/.venv" PIP_QUIET=1 PIP_NO_INDEX=1 $(BIN)/maturin develop --quiet --release --locked --extras dev
TRY := $(CURDIR)/target/try-wheel
PROFILE := $(CURDIR)/target/profile
PROFDATA = "$$(rustc --print target-libdir)/../bin/llvm-profdata"
SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml)

.PHONY: setup fast test reproduce linux lint lint-rust lint-python bench docs site wheel try-wheel sensitivity lock notices audit audit-rust audit-python clean
.DELETE_ON_ERROR:

setup: $(BUILT)

test: lint $(BUILT)
	@echo "== cargo test"
	@cargo test --quiet --locked --workspace
	@echo "== validation"
	@cargo test --quiet --locked --release --workspace --test validation
	@echo "== pytest"
	@$(BIN)/pytest --numprocesses auto --dist loadfile
	@$(BIN)/python -m cwndlab.linux.building --tested

reproduce: $(BUILT)
	@$(BIN)/cwndlab reproduce

linux: $(BUILT)
	@LINUX_SOURCE="$(LINUX_SOURCE)" $(BIN)/python -m cwndlab.linux.building

lint: lint-rust lint-python

lint-rust:
	@cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 || \
		{ echo "rustfmt or clippy is missing: rustup component add rustfmt clippy"; exit 1; }
	@echo "== cargo fmt"
	@cargo fmt --all --check
	@echo "== cargo clippy"
	@cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
	@cargo clippy --quiet --locked --workspace --test validation -- -D warnings

lint-python: $(BUILT)
	@echo "== ruff"
	@$(BIN)/ruff check --quiet python templates docs/site
	@$(BIN)/ruff format --quiet --check python templates docs/site
	@echo "== mypy"
	@$(BIN)/mypy

# With a profile LLVM turns a conditional move into a branch if it nearly always has the same outcome. With many flows nothing predicts
# such a branch (docs/speed.md). A compiler that does not know the option builds without it.
KEEP_SELECTS = $(shell rustc -Cllvm-args=-disable-cgp-select2branch --print cfg >/dev/null 2>&1 && \
	echo -Cllvm-args=-disable-cgp-select2branch)

# Built twice: the first module counts what runs how often, the second is laid out for that. Runs are the same to the bit. The next
# `make setup` after a change builds as usual.
fast: $(LOCKED)
	@$(call need,$(PROFDATA),rustup component add llvm-tools)
	@rm -rf $(BUILT) "$(PROFILE)/counts"
	@echo "== build the extension module with counters"
	@RUSTFLAGS="-Cprofile-generate=$(PROFILE)/counts" CARGO_TARGET_DIR="$(PROFILE)/build" $(DEVELOP)
	@echo "== count what runs how often"
	@$(BIN)/python -m cwndlab.benchmark.workload
	@$(PROFDATA) merge --output "$(PROFILE)/merged.profdata" "$(PROFILE)/counts"
	@echo "== build it with what was counted"
	@RUSTFLAGS="-Cprofile-use=$(PROFILE)/merged.profdata $(KEEP_SELECTS)" CARGO_TARGET_DIR="$(PROFILE)/build" $(DEVELOP)
	@touch $(BUILT)

bench: $(BUILT)
	@$(BIN)/cwndlab bench

docs: $(BUILT)
	@cd python && ../$(BIN)/python -m tests.refresh_docs

# A link that leads nowhere is a warning, and a warning is an error.
site: $(BUILT) .venv/site
	@rm -rf out/site
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env -d target/site -c docs/site . out/site
	@echo "the site is in out/site/index.html"

# The wheel is built from the source archive, which shows that nothing is missing there. Zig links for the glibc of
# manylinux2014, whatever glibc this machine has; auditwheel looks at the symbols that came out.
wheel: .venv/wheel
	@rm -rf out/wheel
	@PATH="$(CURDIR)/$(BIN):$$PATH" CARGO_TARGET_DIR="$(CURDIR)/target" maturin build --quiet --release --locked --strip --zig \
		--compatibility manylinux2014 --sdist --out out/wheel
	@$(BIN)/twine check --strict out/wheel/*
	@$(BIN)/auditwheel show out/wheel/*.whl
	@ls -l out/wheel

# As a user without Rust installs it: a fresh environment, no cargo in PATH.
try-wheel:
	@rm -rf "$(TRY)" && $(PYTHON) -m venv "$(TRY)"
	@"$(TRY)/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: out/wheel/*.whl
	@cd "$(TRY)" && for call in "list scenarios" "run two-flows --seeds 2" "copy scenarios" \
		"run scenarios/two-flows.toml --seeds 2" "reproduce lim2004 --quick" linux; do \
		echo "== cwndlab $$call" && env -i HOME="$(TRY)" PATH=/usr/bin:/bin bin/cwndlab $$call || exit 1; done

sensitivity: $(BUILT)
	@$(BIN)/cwndlab reproduce --full --out out/full
	@$(BIN)/python -m cwndlab.papers.sensitivity out/full/reproduction.json > docs/sensitivity.md

# $(call need,PROGRAM,COMMAND): stop if the program is missing, and say which command installs it.
need = command -v $(1) >/dev/null || { echo "$(1) is missing: $(2)"; exit 1; }

# One version of each package for every Python that we support, and wheels only: to build a source would fetch what no hash pins.
# Pins stay as they are where they still fit; `make lock UPGRADE=--upgrade` takes the newest.
RESOLVE = uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
	--only-binary :all: --emit-build-options --custom-compile-command "make lock" $(UPGRADE)

lock:
	@$(call need,uv,pip install uv)
	@$(RESOLVE) --extra dev --output-file $(LOCK) pyproject.toml
	@$(RESOLVE) --extra sb3 --constraints $(LOCK) --output-file requirements/sb3.lock pyproject.toml
	@$(RESOLVE) --extra site --constraints $(LOCK) --output-file requirements/site.lock pyproject.toml
	@$(RESOLVE) --extra wheel --constraints requirements/site.lock --constraints $(LOCK) --output-file requirements/wheel.lock pyproject.toml

# Offline, so that the same crates give the same file; hence they are fetched first.
notices:
	@$(call need,cargo-about,cargo install --locked --features cli cargo-about)
	@cargo fetch --quiet --locked
	@cargo about generate --offline --locked --fail --manifest-path crates/native/Cargo.toml --features extension-module \
		--output-file THIRD-PARTY-NOTICES.txt crates/native/notices.hbs
	@cat python/cwndlab/output/html/assets/uplot/LICENSE >> THIRD-PARTY-NOTICES.txt

audit: audit-rust audit-python

audit-rust:
	@$(call need,cargo-audit,cargo install --locked cargo-audit)
	@echo "== cargo audit"
	@cargo audit $(CARGO_AUDIT)

# Strict, for pip-audit skips a package of which it gets no answer, and then finds nothing.
audit-python:
	@$(call need,pip-audit,pip install pip-audit)
	@for lock in requirements/*.lock; do echo "== pip-audit $$lock"; \
		pip-audit --strict --require-hashes --disable-pip --progress-spinner off --requirement $$lock $(PIP_AUDIT) || exit 1; done

clean:
	rm -rf .venv target out .cwndlab .mypy_cache .ruff_cache .pytest_cache .hypothesis

# The stamps are touched last: a set-up that was cut off is done again. A new lock makes a new environment, so that nothing of the old
# one stays.
$(LOCKED): $(LOCK)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; name it with: make PYTHON=python3.12"; exit 1; }
	@command -v cargo >/dev/null || { echo "cargo is needed: install Rust 1.88 or later with rustup"; exit 1; }
	@echo "== set up .venv"
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement $(LOCK)
	@touch $@

# No index: what the module needs is there already, or missing in the lock.
$(BUILT): $(LOCKED) pyproject.toml Cargo.toml Cargo.lock $(SOURCES)
	@echo "== build the extension module (two minutes the first time)"
	@$(DEVELOP)
	@touch $@

# What only `make site` and `make wheel` need, beside the rest.
.venv/site .venv/wheel: .venv/%: requirements/%.lock $(LOCKED)
	@echo "== install the tools of make $*"
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	@touch $@
