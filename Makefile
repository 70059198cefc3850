# Everything a developer does has a target here; `make help` lists them.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X main.stamp=$(VERSION)

.DEFAULT_GOAL := build

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/thunder
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/thunder ./cmd/thunder

.PHONY: static
static: ## the same without RDMA, which has to load a library: a fully static bin/thunder
	CGO_ENABLED=0 $(GO) build -trimpath -tags nordma -ldflags '$(LDFLAGS)' -o bin/thunder ./cmd/thunder

.PHONY: demo
demo: build ## build, and take the two-minute tour on this machine
	bin/thunder demo

.PHONY: test
test: ## all checks and all tests, as CI runs them
	scripts/test.sh

.PHONY: test-rdma
test-rdma: ## RDMA on a real kernel driver: soft-RoCE in a small virtual machine
	scripts/rdma-vm.sh

.PHONY: test-python
test-python: ## the Python package and the PyTorch backend
	scripts/test-python.sh

.PHONY: lint
lint: ## formatting, vet, staticcheck, and the platforms we cannot run here
	scripts/lint.sh

.PHONY: shake
shake: ## every test five times beside busy loops (SHAKE=20, SHAKE_PACKAGES=./internal/launch/...)
	scripts/shake.sh

.PHONY: fuzz
fuzz: ## fuzz every parser for FUZZTIME (10s) each
	scripts/fuzz.sh

.PHONY: test-rails
test-rails: ## rails, relays and rings on shaped cables: figures beside iperf3 and Open MPI (root)
	THUNDER_FIGURES=1 $(GO) test -count=1 -timeout 15m -run Figure -v ./internal/cabling/lab

.PHONY: bench
bench: ## Go benchmarks of kernels and links
	$(GO) test -run '^$$' -bench . -benchmem ./internal/reduce ./internal/provider/... ./internal/collective ./internal/group ./internal/e2e

.PHONY: bench-peers
bench-peers: build ## side by side with Open MPI, Gloo and MLX into docs/benchmarks (QUICK=1: a look)
	scripts/bench-peers.sh

ROUNDS ?= 3

.PHONY: bench-compare
bench-compare: ## whether it became slower: BASE=commit (HEAD=commit, ROUNDS=3, ARGS='-cells shm/2')
	@mkdir -p bin
	$(GO) build -o bin/bench-compare ./internal/bench/compare
	bin/bench-compare -base '$(BASE)' -head '$(HEAD)' -rounds $(ROUNDS) -json bin/bench-compare.json $(ARGS)

SOAK ?= 1000

.PHONY: soak
soak: ## faults for an hour or so, and the times they are promised to be noticed in (SOAK=100: some minutes)
	THUNDER_SOAK=$$((20 * $(SOAK))) $(GO) test -timeout 2h -run 'TestSimulatedFaults' -v ./internal/e2e
	THUNDER_SOAK=$(SOAK) $(GO) test -timeout 2h -run 'TestRealFaults|TestFaultsWhileJoining|TestRDMAFaults|TestKilledEight|TestCutCable|TestOneWayLoss|TestHostileConnections' -v ./internal/e2e
	THUNDER_SOAK=1 $(GO) test -timeout 1h -run 'TestEveryState' -v ./internal/membership

.PHONY: clean
clean: ## remove what was built
	rm -rf bin
