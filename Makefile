SHELL := /bin/bash
PORT  ?= 8080
comma := ,
IMAGES := $(patsubst services/%/package.json,image-%,$(wildcard services/*/package.json))
# Vitest with the projects of tests/; $(TEST_FLAGS) are further arguments.
TESTS  = $(if $(wildcard tests),npx vitest run --config tests/vitest.config.ts $(TEST_FLAGS),echo "The folder tests/ is missing" >&2; false)

# If a program cannot be installed, "make test" skips the tests that need it. In CI, it ends make before the tests.
OPTIONAL := $(if $(CI),,--optional)

# Only USER=… of the command line counts: every shell sets USER.
TOKEN_USER := $(if $(filter command line,$(origin USER)),$(USER),ada)

# Variables of the services; those of the shell take precedence.
ENV_FILE = $(if $(wildcard .env),--env-file=.env)

LOAD = --profile '$(or $(PROFILE),smoke)' --base '$(or $(BASE),http://localhost:$(PORT))'

# The programs that Go builds, and nginx on Debian.
export PATH := $(CURDIR)/.local/bin:$(PATH):/usr/sbin

# Without Node 26 or later on the PATH, make installs it in .local/toolchain.
NODE_FITS := $(shell node -p 'parseInt(process.versions.node) >= 26' 2>/dev/null)
ifneq ($(NODE_FITS),true)
NODE_BIN  := .local/toolchain/node_modules/node/bin
TOOLCHAIN := $(NODE_BIN)/node
# npm run and npx look here first.
NODE_LINK := node_modules/.bin/node
export PATH := $(CURDIR)/$(NODE_BIN):$(PATH)

$(TOOLCHAIN):
	@deploy/local/install-node.sh

$(NODE_LINK): | node_modules/.installed
	@ln -s '../../$(TOOLCHAIN)' $@
endif

.DEFAULT_GOAL := help
.PHONY: $(IMAGES) help install up dev observe down status logs token import config smoke contract \
	load service release publish images packages publish-packages programs test test-public check format documents breaking e2e kind \
	conformance chaos soak installation registry compose new-service mutation site bench cost clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: node_modules/.installed $(NODE_LINK) ## Install the packages, and Node if it is missing

up: install ## Build and start the system on localhost:8080 (PORT=8090, BACKEND=kind, WITHOUT=v1, AUTH=required)
	@node tools/programs.ts $(if $(BACKEND),,--optional) $(if $(filter kind,$(BACKEND)),helm,nginx)
	@node $(ENV_FILE) deploy/local/up.ts --port $(PORT) --backend "$(BACKEND)" --without '$(WITHOUT)'

dev: install ## Start the system with one service in watch mode (SERVICE=users)
	@node tools/programs.ts nginx
	@node $(ENV_FILE) deploy/local/dev.ts --port $(PORT) --service '$(SERVICE)'

observe: install ## Start the system with Prometheus, its alerts, and Zipkin (Java 17, Maven, Go 1.26)
	@node tools/programs.ts nginx prometheus java maven statsd_exporter helm
	@node $(ENV_FILE) deploy/local/up.ts --port $(PORT) --backend processes --observe

down: $(TOOLCHAIN) ## Stop what "make up" started (CLEAN=1: remove the data too)
	@node deploy/local/down.ts $(if $(CLEAN),--clean)

status: $(TOOLCHAIN) ## Show what runs, and its addresses
	@node deploy/local/status.ts

logs: $(TOOLCHAIN) ## Follow the logs of every process
	@node deploy/local/logs.ts

token: $(TOOLCHAIN) ## Print a bearer token (make token USER=ada TIER=pro)
	@node deploy/local/token.ts --user $(TOKEN_USER) --tier $(or $(TIER),free)

import: install ## Import a file into the catalog (make import FILE=items.ndjson.gz MAX_REJECTED=20%)
	@node deploy/local/service-command.ts catalog import $(if $(FILE),'$(FILE)') $(if $(MAX_REJECTED),--max-rejected '$(MAX_REJECTED)')

config: install ## Print every variable of the services
	@node deploy/local/service-command.ts all config

smoke: install ## Test the running system, or the one at BASE, through its edge (BASE=https://host)
	@$(TESTS) --project contract --project smoke

contract: install ## Test version 1 at BASE against its specification (BASE=https://host TOKEN="A B")
	@$(TESTS) --project contract

load: $(TOOLCHAIN) ## Send load to the system at BASE (PROFILE=breakpoint; deploy/k6/README.md)
	@node deploy/k6/run.ts --check $(LOAD)
	@node tools/programs.ts k6
	@node deploy/k6/run.ts $(LOAD)

service: install ## Add a service from the template of create-fw (make service NAME=orders SINGULAR=)
	@node tools/service/main.ts --name '$(NAME)' --singular '$(SINGULAR)'

release: install ## Upgrade, verify with k6, roll back if an objective is missed (TAG=, BASE=, SERVICE=)
	@node tools/programs.ts helm k6
	@tools/release.sh

publish: install ## Publish images and charts, signed (REGISTRY=registry.example.org/fw TAG=0.1.0 COSIGN_KEY= NPM_SCOPE=)
	@tools/publish.sh
	@$(if $(NPM_SCOPE),node tools/packages/publish.ts)

images: $(IMAGES) ## Build the image of each service, fw-users:dev (TAG=, BUILD_IMAGE=, RUN_IMAGE=)

$(IMAGES): image-%: $(TOOLCHAIN)
	@echo 'Building fw-$*:$(or $(TAG),dev)'
	@$(or $(BUILD_COMMAND),docker build --quiet --force-rm --tag 'fw-$*:$(or $(TAG),dev)') \
	  --build-arg SERVICE=$* --build-arg BUILD_IMAGE --build-arg RUN_IMAGE \
	  --label "org.opencontainers.image.version=$$(node -p 'require("./services/$*/package.json").version')" \
	  --label "org.opencontainers.image.revision=$$(git rev-parse HEAD)" \
	  $(if $(SOURCE),--label 'org.opencontainers.image.source=$(SOURCE)') . >/dev/null

programs: $(TOOLCHAIN) ## Build Helm, k6 and the other programs of "make test" with Go (ten minutes, once)
	@node tools/programs.ts

test: install $(if $(CI),programs) ## Type-check, lint and run all tests that need no running system
	@node tools/programs.ts $(OPTIONAL) nginx redis chromium postgres pgbouncer prometheus java maven $(if $(wildcard tests),schemathesis)
	npm run check
	npm test -- $(TEST_FLAGS)

test-public: install ## Test core, middleware and service with Node's public functions only
	FW_PUBLIC_NODE_API=1 npx vitest run framework/core framework/middleware framework/service \
	  --exclude '**/{*-types,pattern,guard}.test.ts' --exclude '**/schema/**' $(TEST_FLAGS)

packages: install ## Build and pack the framework packages into packages/
	@node tools/packages/pack.ts

publish-packages: install ## Publish the framework to a registry of npm (NPM_SCOPE=@acme NPM_REGISTRY= TAG=)
	@node tools/packages/publish.ts

check: install ## Type-check and lint
	npm run check

format: install ## Format the sources
	npm run format

documents: install ## Write the OpenAPI documents and types of the services, services/*/openapi
	UPDATE=1 npx vitest run /src/documents.test.ts --testNamePattern 'is current'
	UPDATE=1 npx vitest run tools/openapi/types.test.ts --testNamePattern 'are current'

breaking: documents ## Write the documents, and print what breaks clients of the last release (AGAINST=)
	@node tools/programs.ts oasdiff
	@node tools/openapi/breaking.ts --against '$(AGAINST)'

e2e: install ## Test the charts on a cluster (E2E_CONTEXT=its current context; ONLY=platform)
	@node tools/programs.ts helm k6 $(if $(filter registry,$(or $(subst $(comma), ,$(ONLY)),registry)),cosign registry)
	@$(TESTS) --project e2e $(foreach name,$(subst $(comma), ,$(ONLY)),tests/cluster/$(name).test.ts)

kind: install ## Test "make up BACKEND=kind" from start to end (KIND_IMAGE=)
	@node tools/programs.ts helm k6
	@$(TESTS) --project kind

conformance: install ## Check the services against their OpenAPI documents (schemathesis, about 29,000 cases)
	@node tools/programs.ts nginx schemathesis
	@$(TESTS) --project conformance

chaos: install ## Break the system: overload, kills, failing parts (ONLY=faults; SHORT=1: few minutes)
	@node tools/programs.ts nginx postgres redis
	@node tools/programs.ts $(OPTIONAL) toxiproxy-server faketime schemathesis
	@$(if $(SHORT),,FULL=1) $(TESTS) --project chaos $(foreach name,$(subst $(comma), ,$(ONLY)),tests/chaos/$(name).test.ts)

soak: install ## Send load for 20 minutes: the memory of no process grows (SHORT=1: two minutes)
	@node tools/programs.ts nginx postgres redis k6
	@$(if $(SHORT),,FULL=1) $(TESTS) --project soak

installation: install ## Test the packed packages in other projects, on Node 22, 24, 26, Bun, Deno
	@npm ci --prefix tools/verdaccio --no-audit --no-fund --loglevel=error
	@$(TESTS) --project installation

registry: install ## Test "make publish" with a registry on loopback (Docker engine)
	@node tools/programs.ts helm cosign registry
	@$(TESTS) --project registry

compose: install ## Test compose.yaml (Docker engine)
	@docker compose version >/dev/null 2>&1 || node tools/programs.ts docker-compose
	@$(TESTS) --project compose

new-service: install ## Test "make service" in a temporary worktree
	@node tools/programs.ts nginx postgres helm
	@$(TESTS) --project new-service

mutation: install ## Change the code of a part, and list what no test notices (PACKAGE=openapi)
	@node tools/programs.ts redis postgres chromium
	@npm ci --prefix tools/mutation --legacy-peer-deps --no-audit --no-fund
	@node tools/mutation/main.ts $(PACKAGE)

site: install ## Write the documentation as a static site to .local/site (SOURCE=https://host/fw/blob/main)
	@npm ci --prefix tools/site --no-audit --no-fund --loglevel=error
	@SOURCE='$(SOURCE)' tools/site/node_modules/.bin/vitepress build tools/site

bench: install ## Measure framework and services beside their peers (bench/README.md)
	@node tools/programs.ts nginx postgres redis wrk
	npm run bench

cost: install ## Measure memory, CPU, start, images and capacity of the system (PORT=, WITHOUT_KIND=1, ONLY=capacity)
	@node tools/programs.ts nginx postgres redis $(if $(ONLY),,prometheus java maven $(if $(WITHOUT_KIND),,helm))
	@node deploy/local/cost.ts --port $(PORT) $(if $(WITHOUT_KIND),--without-kind) $(if $(ONLY),--only '$(ONLY)')

clean: $(TOOLCHAIN) ## Stop everything and remove what was built, and the data
	@node deploy/local/down.ts --clean
	rm -rf services/*/dist packages

node_modules/.installed: package-lock.json | $(TOOLCHAIN)
	npm ci --no-audit --no-fund
	@touch $@
