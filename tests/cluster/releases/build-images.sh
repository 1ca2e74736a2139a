#!/usr/bin/env bash
# Builds the images of Argo Rollouts, Prometheus, blackbox exporter and Traefik for a cluster without access to their
# registries: build-images.sh BASE_IMAGE. With Go and two cores this takes 25 minutes, once per version; 15 if
# TRAEFIK_IMAGE is set. Prints the variables for make e2e.
set -euo pipefail

ROLLOUTS=1.10.1
PROMETHEUS=3.13.5
BLACKBOX=0.28.0
TRAEFIK=3.6.12
# The Go module of Prometheus 3.13.5 has the version 0.313.5.
prometheus_module=github.com/prometheus/prometheus@v0.${PROMETHEUS/./}
rollouts_module=github.com/argoproj/argo-rollouts@v$ROLLOUTS
traefik_module=github.com/traefik/traefik/v3@v$TRAEFIK
base=${1:?"Usage: build-images.sh BASE_IMAGE"}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/fw/tools
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT

# module MODULE: downloads it, and prints its folder.
module() { go mod download -json "$1" | node -p 'JSON.parse(fs.readFileSync(0, "utf8")).Dir'; }

# image NAME MODULE PACKAGE OPTIONS: builds the program of PACKAGE, and an image with it.
image() {
  local name=$1 module=$2 package=$3 program=$cache/${1/:/-}/${3##*/}
  if [ ! -e "$program" ]; then
    mkdir -p "$(dirname "$program")"
    # In the folder of the module, because go install ignores the replacements in its go.mod.
    GOWORK=off CGO_ENABLED=0 go build -C "$(module "$module")" -trimpath -buildvcs=false \
      -ldflags='-s -w' "${@:4}" -o "$program.$$" "$package"
    mv "$program.$$" "$program"
  fi
  cp "$program" "$context/program"
  printf 'FROM %s\nCOPY program /bin/program\nUSER 65532\nENTRYPOINT ["/bin/program"]\n' "$base" |
    docker build --quiet --tag "local/$name" --file - "$context" >/dev/null
}
image "argo-rollouts:$ROLLOUTS" "$rollouts_module" ./cmd/rollouts-controller
image "prometheus:$PROMETHEUS" "$prometheus_module" ./cmd/prometheus \
  -tags remove_all_sd,enable_kubernetes_sd
image "blackbox-exporter:$BLACKBOX" "github.com/prometheus/blackbox_exporter@v$BLACKBOX" \
  github.com/prometheus/blackbox_exporter
if [ -z "${TRAEFIK_IMAGE:-}" ]; then
  image "traefik:$TRAEFIK" "$traefik_module" ./cmd/traefik
fi

echo "ROLLOUTS_MANIFEST=$(module "$rollouts_module")/manifests/install.yaml"
echo "ROLLOUTS_IMAGE=local/argo-rollouts:$ROLLOUTS"
echo "PROMETHEUS_IMAGE=local/prometheus:$PROMETHEUS"
echo "BLACKBOX_IMAGE=local/blackbox-exporter:$BLACKBOX"
echo "TRAEFIK_MANIFEST=$(module "$traefik_module")/docs/content/reference/dynamic-configuration/kubernetes-crd-definition-v1.yml"
echo "TRAEFIK_IMAGE=${TRAEFIK_IMAGE:-local/traefik:$TRAEFIK}"
