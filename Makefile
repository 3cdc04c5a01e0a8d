# What a newcomer needs: `make run` and `make test`. Both fetch the servers that are missing (tools/).

export PATH := $(CURDIR)/.deps/mariadb/bin:$(PATH)
# Tests find an unpacked server wherever they were built.
SERVER = $(shell [ -d .deps/mariadb/usr ] && echo SHUNTYARD_MARIADB=$(CURDIR)/.deps/mariadb)
CARGO ?= cargo
# Arguments for the program: make run ARGS="--port 4307 --data /tmp/demo"
ARGS ?=
# How long each fuzz target runs, in seconds.
FUZZ_SECONDS ?= 60
# Package of each set of fuzz targets (bolero tests whose names begin with fuzz_).
FUZZ_PACKAGES ?= wire sql rewriter shuntyard

.DEFAULT_GOAL := help
.PHONY: help deps test-deps bench-deps suite-deps run build test units e2e suite suite-sample bench bench-full bench-micro bench-rewrites docs hunt lint fuzz clean

help: ## Print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

deps: ## Fetch MariaDB if this machine has none
	@tools/mariadb

test-deps: deps ## Fetch what the tests need besides: MySQL 9 and drivers of other languages
	@tools/pydrivers || $(if $(CI),exit 1,true)
	@tools/otherdrivers || $(if $(CI),exit 1,true)
	@tools/mysql97 install || $(if $(CI),exit 1,true)

bench-deps: deps ## Fetch the benchmark's load generator and rivals
	@command -v haproxy >/dev/null && command -v sysbench >/dev/null || tools/packages haproxy sysbench
	@tools/mysql97 install-router || $(if $(CI),exit 1,true)

suite-deps: deps ## Fetch MariaDB's own regression tests
	@command -v mysqltest >/dev/null || tools/packages mariadb-test || $(if $(CI),exit 1,true)

run: deps ## Start two servers with a sample shop, and the proxy in front of them
	env $(SERVER) $(CARGO) run --release --locked -- demo $(ARGS)

build: ## Build the program: target/release/shuntyard
	$(CARGO) build --release --locked

test: units e2e ## Check everything: units, protocol, drivers, real servers

units: test-deps
	env $(SERVER) tools/tested $(CARGO) test --locked --workspace --exclude shuntyard-tests

# The servers and the memory are shared: one end-to-end test binary after the other, as cargo does by itself.
e2e: test-deps
	$(CARGO) build --locked -p shuntyard
	@rm -f target/missing.txt
	env $(SERVER) tools/tested $(CARGO) test --locked -p shuntyard-tests
	@if [ -s target/missing.txt ]; then echo "not tested, because it is missing here:"; sort -u target/missing.txt; fi

suite: suite-deps ## MariaDB's own regression tests through the proxy: half an hour
	$(CARGO) build --locked -p shuntyard
	@rm -f target/missing.txt
	$(CARGO) run --locked -p shuntyard-tests --bin suite -- $(ARGS)

suite-sample: ## 180 of these tests: two minutes
	$(MAKE) suite ARGS="--list tests/suite/sample.txt $(ARGS)"

# The whole set in a quarter of an hour; bench-full has every cell and takes about 80 minutes.
BENCH = $(CARGO) build --release --locked -p shuntyard && env $(SERVER) $(CARGO) run --release --locked -p shuntyard-tests --bin bench --
bench: bench-deps ## Measure against direct connections, HAProxy and MySQL Router; writes docs/benchmarks.md
	$(BENCH) $(ARGS)

bench-full: bench-deps ## The same for all loads, both protocols, 1 to 256 threads, and both servers
	$(BENCH) --full $(ARGS)

bench-micro: ## Only what the proxy does without input and output, nanoseconds for each statement
	$(BENCH) --only micro $(ARGS)

lint: ## Formatting and lints, as CI has them
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

bench-rewrites: test-deps ## What each rule gains, on both servers; writes docs/rewrites.md
	env $(SERVER) $(CARGO) run --release --locked -p shuntyard-tests --bin rewrites -- $(ARGS)

docs: ## Write the catalogue in docs/rules.md anew, from the rules themselves
	UPDATE_DOCS=1 $(CARGO) test --locked -p shuntyard-tests --test docs

hunt: test-deps ## Hunt for session state that leaks between pooled sessions, for half an hour
	$(CARGO) build --locked -p shuntyard
	env $(SERVER) LEAK_SECONDS=900 $(CARGO) test --locked -p shuntyard-tests --test e2e -- --nocapture pooling::hunt

fuzz: ## Fuzz decoders, lexer and loaders for FUZZ_SECONDS each
	@set -e; for package in $(FUZZ_PACKAGES); do \
	  for target in $$($(CARGO) test -q --release --locked -p $$package -- --list 2>/dev/null | sed -n 's/^\(.*fuzz_[a-z0-9_]*\): test$$/\1/p'); do \
	    echo "fuzz $$package $$target"; \
	    BOLERO_RANDOM_TEST_TIME_MS=$$(( $(FUZZ_SECONDS) * 1000 )) BOLERO_RANDOM_ITERATIONS=1000000000 \
	      $(CARGO) test -q --release --locked -p $$package -- --exact $$target; \
	  done; \
	done

clean: ## Remove what was built and fetched; data/ stays
	$(CARGO) clean
	rm -rf .deps
