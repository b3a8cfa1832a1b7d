# Two commands for a bare machine with Python 3.11+, cargo and a C compiler:
#   make test        set up everything, run all tests
#   make reproduce   set up everything, run the papers again, say where the report is
# Both leave .venv/bin/cwndlab behind. All else: setup, lint, bench, docs (refresh the outputs shown there),
# sensitivity (every alternative to what the papers leave open: long), notices (licences of others), clean.

PYTHON ?= python3
BIN := .venv/bin
BUILT := .venv/built
SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml)

.PHONY: setup test reproduce lint lint-rust lint-python bench docs sensitivity notices clean
.DELETE_ON_ERROR:

setup: $(BUILT)

test: lint $(BUILT)
	@echo "== cargo test"
	@cargo test --quiet --workspace
	@echo "== pytest"
	@$(BIN)/pytest --numprocesses auto --dist loadfile

reproduce: $(BUILT)
	@$(BIN)/cwndlab reproduce

lint: lint-rust lint-python

lint-rust:
	@cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 || \
		{ echo "rustfmt or clippy is missing: rustup component add rustfmt clippy"; exit 1; }
	@echo "== cargo fmt"
	@cargo fmt --all --check
	@echo "== cargo clippy"
	@cargo clippy --quiet --workspace --all-targets -- -D warnings

lint-python: $(BUILT)
	@echo "== ruff"
	@$(BIN)/ruff check --quiet python templates
	@$(BIN)/ruff format --quiet --check python templates
	@echo "== mypy"
	@$(BIN)/mypy

bench: $(BUILT)
	@$(BIN)/cwndlab bench

docs: $(BUILT)
	@cd python && ../$(BIN)/python -m tests.refresh_docs

sensitivity: $(BUILT)
	@$(BIN)/cwndlab reproduce --full --out out/full
	@$(BIN)/python -m cwndlab.papers.sensitivity out/full/reproduction.json > docs/sensitivity.md

# $(call need,PROGRAM,COMMAND): stop if the program is missing, and say which command installs it.
need = command -v $(1) >/dev/null || { echo "$(1) is missing: $(2)"; exit 1; }

# Offline, so that the same crates give the same file; hence they are fetched first.
notices:
	@$(call need,cargo-about,cargo install --locked --features cli cargo-about)
	@cargo fetch --quiet --locked
	@cargo about generate --offline --locked --fail --manifest-path crates/native/Cargo.toml --features extension-module \
		--output-file THIRD-PARTY-NOTICES.txt crates/native/notices.hbs
	@cat python/cwndlab/report/assets/uplot/LICENSE >> THIRD-PARTY-NOTICES.txt

clean:
	rm -rf .venv target out .cwndlab .mypy_cache .ruff_cache .pytest_cache .hypothesis

# The stamp is touched last: a set-up that was cut off is done again.
$(BUILT): pyproject.toml Cargo.toml Cargo.lock $(SOURCES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; name it with: make PYTHON=python3.12"; exit 1; }
	@command -v cargo >/dev/null || { echo "cargo is needed: install Rust 1.88 or later with rustup"; exit 1; }
	@echo "== set up .venv"
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check 'maturin>=1.8,<2'
	@echo "== build the extension module (two minutes the first time)"
	@VIRTUAL_ENV="$(CURDIR)/.venv" PIP_QUIET=1 $(BIN)/maturin develop --quiet --release --locked --extras dev
	@touch $@
