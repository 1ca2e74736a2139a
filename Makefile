SHELL := /bin/bash
PORT  ?= 8080

# A Node of 26 or later on the PATH is used as it is; otherwise one is brought into the checkout.
NODE_FITS := $(shell node -p 'parseInt(process.versions.node) >= 26' 2>/dev/null)
ifneq ($(NODE_FITS),true)
NODE_BIN  := .local/toolchain/node_modules/node/bin
TOOLCHAIN := $(NODE_BIN)/node
export PATH := $(CURDIR)/$(NODE_BIN):$(PATH)

$(TOOLCHAIN):
	@deploy/local/install-node.sh
endif

.DEFAULT_GOAL := help
.PHONY: help install up down status logs smoke leftovers test check format bench clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: node_modules/.installed ## Bring Node, where it is missing, and the packages

up: install ## Build and start everything on http://localhost:$(PORT) (make up PORT=8090)
	@node deploy/local/up.ts --port $(PORT)

down: $(TOOLCHAIN) ## Stop what "make up" started (CLEAN=1: remove the users' data too)
	@node deploy/local/down.ts $(if $(CLEAN),--clean)

status: $(TOOLCHAIN) ## Show what runs, and where
	@node deploy/local/status.ts

logs: ## Follow the logs of every process
	@tail -n 20 -F .local/logs/*.log

smoke: install ## Try the running system through its edge
	@node deploy/local/smoke.ts

leftovers: $(TOOLCHAIN)
	@node deploy/local/leftovers.ts --port $(PORT)

test: install ## Type-check, lint and run every test
	@node deploy/local/tools.ts nginx redis chromium postgres
	npm run check
	npm test -- $(TEST_FLAGS)

check: install ## Type-check and lint
	npm run check

format: install ## Format the sources
	npm run format

bench: install ## Measure the framework beside its peers
	npm run bench

clean: $(TOOLCHAIN) ## Stop everything and remove what was built, and the data
	@node deploy/local/down.ts --clean
	rm -rf services/*/dist

node_modules/.installed: package-lock.json | $(TOOLCHAIN)
	npm ci --no-audit --no-fund
	@touch $@
