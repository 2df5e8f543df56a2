# Everything runs from a fresh clone: the targets make their own virtual environment and build the core.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
PY := $(BIN)/python
CPP_FILES = $(shell git ls-files 'cpp/*.hpp' 'cpp/*.cpp')
TIDY_FILES = tools/tidy.cpp $(filter-out cpp/bindings/% cpp/tests/% cpp/fuzz/%,$(filter %.cpp,$(CPP_FILES)))
CORES = $(shell getconf _NPROCESSORS_ONLN)
# A file's tests run in one process. A process that dies, or a test that hangs, ends the run.
PYTEST = $(PY) -m pytest -n auto --maxprocesses 8 --dist loadfile --max-worker-restart 0
GUARD = --timeout 120 -o faulthandler_timeout=180 -o faulthandler_exit_on_timeout=true
# What checks the page comes from npm: types here, accessibility in its tests. Without npm, neither.
WEB_TOOLS = build/web/node_modules
SANITIZE_ENV = ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all check check-page pictures format sanitize faults fuzz soak bench docs docs-site wheel clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
ifdef HASHES
	grep -A1 -E '^(setuptools|wheel)==' requirements-hashed.txt > $(VENV)/first.txt
	$(PY) -m pip install -q --require-hashes --no-deps -r $(VENV)/first.txt
	$(PY) -m pip install -q --require-hashes --no-deps --no-build-isolation -r requirements-hashed.txt
	$(PY) -m pip install -q --no-deps --no-build-isolation -e .
else
	$(PY) -m pip install -q --upgrade pip
	$(PY) -m pip install -q -c constraints.txt scikit-build-core nanobind cmake ninja setuptools wheel
	$(PY) -m pip install -q -c constraints.txt --no-build-isolation -e '.[dev]'
endif
	@touch $@

setup: $(VENV)/.ready ## Make the virtual environment and build the core (HASHES=1: only files that are known)
	@$(PY) -m pip install -q --no-build-isolation --no-deps -e .
	@cp build/cp*/_core.pyi src/zermelo/_core.pyi

demo: setup ## Learn Connect Four for three minutes (FOR=20s for less), then play it
	$(BIN)/zermelo demo --for $(or $(FOR),3m)

test: setup build/tests/core_tests ## Run the tests (minutes)
	build/tests/core_tests
	$(PYTEST) $(GUARD)

test-all: setup build/tests/core_tests ## Run every test, the slow ones too
	build/tests/core_tests
	$(PYTEST) -m ''

check: setup ## Format, lint, types, layers, trust, generated docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)
	$(PY) tools/check_layers.py
	$(PY) tools/check_sizes.py
	$(PY) tools/check_trust.py
	$(PY) tools/technique_index.py
	$(PY) tools/generate_docs.py --check
	$(PY) tools/generate_protocol.py --check
	$(MAKE) --no-print-directory check-page
	printf '%s\n' $(TIDY_FILES) | xargs -P $(CORES) -I FILE $(BIN)/clang-tidy --quiet FILE -- -std=c++20 -Icpp

check-page: $(WEB_TOOLS)/.ready ## Types of the page's scripts
	$(WEB_TOOLS)/.bin/tsc -p tools/web

$(WEB_TOOLS)/.ready: tools/web/package.json
	mkdir -p build/web
	cp tools/web/package.json build/web/
	npm install --prefix build/web --no-audit --no-fund --silent
	@touch $@

format: setup ## Format both languages
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(CPP_FILES)

build/%/core_tests: setup FORCE
	@$(BIN)/cmake -S . -B build/$* -G Ninja -DZERMELO_MODULE=OFF -DZERMELO_TESTS=ON \
	  -DZERMELO_SANITIZE=$(SANITIZER) -DCMAKE_BUILD_TYPE=$(or $(BUILD_TYPE),Release) \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja > /dev/null
	@$(BIN)/cmake --build build/$*
FORCE:

build/asan/core_tests: SANITIZER = address,undefined
build/tsan/core_tests: SANITIZER = thread
build/asan/core_tests build/tsan/core_tests build/checked/core_tests: BUILD_TYPE = RelWithDebInfo
build/checked/core_tests: export CXXFLAGS = -D_GLIBCXX_ASSERTIONS

faults: setup build/asan/core_tests build/tsan/core_tests build/checked/core_tests ## Try all faults, write docs/reliability.md (ROWS=5,16, QUICK=1)
	$(PY) tools/faults.py $(if $(ROWS),--rows $(ROWS)) $(if $(QUICK),--quick)

fuzz: setup ## Fuzz every parser for SECONDS (60) each; needs clang, and atheris for Python's
	$(PY) tools/fuzz.py --seconds $(or $(SECONDS),60) $(if $(TARGET),--only $(TARGET))

soak: setup ## Search, train under kills and begin games for MINUTES (10), watch memory and files
	$(PY) tools/soak.py --minutes $(or $(MINUTES),10)
	$(PY) tools/kill_loop.py --kills $(or $(KILLS),20)
	$(PY) tools/uci_soak.py

sanitize: build/asan/core_tests build/tsan/core_tests ## C++ tests under ASan + UBSan, threaded code under TSan
	$(SANITIZE_ENV) build/asan/core_tests
	ZERMELO_STORM_SECONDS=10 build/tsan/core_tests threads

bench: setup ## Speeds against their references
	$(PY) benchmarks/perft.py
	$(PY) benchmarks/search.py
	$(PY) benchmarks/replay.py
	$(PY) benchmarks/selfplay.py
	$(PY) benchmarks/train.py

docs: setup ## Write the generated tables into docs/
	$(PY) tools/generate_docs.py
	$(PY) tools/generate_protocol.py

docs-site: setup ## Build the documentation site into build/site
	$(PY) tools/docs_site.py

wheel: setup ## Build the source archive and a manylinux wheel into build/dist
	$(PY) tools/build_wheel.py

pictures: setup ## Take the page's pictures of README and docs anew
	ZERMELO_PICTURES=1 $(PY) -m pytest -q tests/web/test_page_pictures.py

clean: ## Remove what was built
	rm -rf build $(VENV)
