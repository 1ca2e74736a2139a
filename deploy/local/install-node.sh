#!/usr/bin/env bash
# Installs the npm package "node" into .local/toolchain, for a machine whose Node is too old.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=26.10.0
target=.local/toolchain
node=$target/node_modules/node/bin/node

runs() { [ "$("$node" --version 2>/dev/null)" = "v$version" ]; }

if ! runs; then
  if ! command -v npm >/dev/null || ! npm --version >/dev/null 2>&1; then
    echo 'Node is missing: install Node 26 with npm (https://nodejs.org/en/download), then run make again' >&2
    exit 1
  fi
  echo "Installing Node $version into $target, because the PATH has $(node --version 2>/dev/null || echo none)"
  log=$(npm install --prefix "$target" --no-save --no-package-lock --no-fund --no-audit "node@$version" 2>&1) || {
    echo "$log" >&2
    echo "Cannot install Node $version with npm: see the lines above" >&2
    exit 1
  }
  # The package fetches its binary in an install script, which npm leaves out where scripts need approval.
  runs || (cd "$target/node_modules/node" && node installArchSpecificPackage.js >/dev/null 2>&1) || true
fi
if ! runs; then
  echo "The Node $version from npm does not run on this machine: install Node 26 (https://nodejs.org/en/download)" >&2
  exit 1
fi
