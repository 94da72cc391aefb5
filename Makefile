# The short way to everything; CMake does the work. `make help` lists what there is.
.DEFAULT_GOAL := build
.NOTPARALLEL: # CMake builds in parallel, and not twice at a time in one directory
.PHONY: help deps build demo all test python install bench format check asan tsan clang coverage valgrind torture fuzz docs clean

PYTHON  := /usr/bin/python3
RELEASE := build/release
PREFIX  ?= /usr/local
# Seconds for each fuzz target.
FUZZ_SECONDS ?= 60

# Configures a preset and builds it, or a target of it; the messages go to standard error, so that the results on standard
# output stay alone.
build_preset = cmake --preset $(1) >&2 && cmake --build --preset $(1) $(addprefix --target ,$(2)) >&2
# Installs sets of packages, as scripts/install-deps calls them. Without apt-get CMake says what is missing.
install_deps = ! command -v apt-get >/dev/null || scripts/install-deps $(1)

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 12

deps: ## install what building and testing need, on Debian
	@$(call install_deps,test)

build: ## build the library and the programs in build/release, and install what that needs, on Debian
	@$(call install_deps,build)
	@$(call build_preset,release,programs)

demo: build ## learn handwritten digits from labels of which 40% are wrong, and from right or wrong alone
	@$(call install_deps,demo)
	@scripts/demo $(RELEASE)

all: deps ## build everything in build/release: programs, tests and benchmarks
	@$(call build_preset,release)

test: all python ## build and run all tests
	@$(PYTHON) scripts/run-tests $(RELEASE)

python: ## build the Python package and install it into build/release/python-venv
	@$(call install_deps,build python)
	@$(call build_preset,release,python)

install: build ## install below PREFIX (/usr/local); DESTDIR is respected
	@$(call install_deps,run)
	@cmake --install $(RELEASE) --prefix $(PREFIX)

bench: all ## time everything against other programs, and how it grows (30 minutes)
	@bench/run $(RELEASE) --guard

format: ## bring all C files into the format
	@scripts/check-format --fix

check: all ## format, includes, headers, exports, installation, clang-tidy, cppcheck
	@scripts/check-format
	@scripts/check-includes
	@scripts/check-copies
	@scripts/check-length
	@scripts/check-headers
	@scripts/check-exports $(RELEASE)
	@scripts/check-install $(RELEASE)
	@scripts/check-static $(RELEASE)

asan: deps ## run the tests with the address and undefined-behaviour sanitizers
	@$(call build_preset,asan)
	@$(PYTHON) scripts/run-tests build/asan

# What several threads do is in these; the thread sanitizer makes everything ten times as slow.
TSAN_TESTS := parallel_pool parallel_comm data_libsvm data_exchange map_landmarks learn_threads learn_logistic \
              linalg_products map_nystroem select_compare select_cross_validate model_score

tsan: deps ## run the tests of threads with the thread sanitizer, by clang
	@scripts/install-deps clang libomp-dev libclang-rt-dev
	@$(call build_preset,tsan)
	@TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1" \
	    $(PYTHON) scripts/run-tests build/tsan --jobs 1 --only unit \
	    $(addprefix --program ,$(TSAN_TESTS))

clang: deps ## build with clang, warnings are errors
	@$(call build_preset,clang)

coverage: deps ## which lines the tests run, in build/coverage/coverage.txt
	@command -v gcovr >/dev/null || { echo "coverage needs gcovr (Debian: gcovr)" >&2; exit 1; }
	@$(call build_preset,coverage)
	@$(PYTHON) scripts/run-tests build/coverage
	@gcovr --root . --filter src/ --filter app/ --filter cli/ --output build/coverage/coverage.txt --print-summary build/coverage

valgrind: deps ## run the test programs under valgrind
	@$(call build_preset,debug)
	@$(PYTHON) scripts/run-tests build/debug --only unit --only property --only regression \
	    --wrapper 'valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=99'

torture: all ## make every call of a list of commands fail in turn, take away what they need, kill the service 1,000 times
	@$(PYTHON) -B tests/torture/run $(RELEASE)
	@UNCONFUSE=$(CURDIR)/$(RELEASE)/unconfuse UNCONFUSE_KILLS=1000 $(PYTHON) -B -m pytest -q -p no:cacheprovider tests/cli/test_serve_killed.py

fuzz: deps ## fuzz every target for FUZZ_SECONDS (60)
	@$(call build_preset,fuzz)
	@scripts/fuzz build/fuzz $(FUZZ_SECONDS)

docs: ## the reference of the C functions, from their headers, in build/docs/html
	@command -v doxygen >/dev/null || scripts/install-deps doxygen
	@mkdir -p build/docs
	@doxygen docs/Doxyfile
	@echo "build/docs/html/index.html"

clean: ## remove everything that was built
	@rm -rf build
