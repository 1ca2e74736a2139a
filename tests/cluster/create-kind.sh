#!/usr/bin/env bash
# Creates the kind cluster NAME for make e2e, and prints the variables of make e2e:
#   create-kind.sh NAME [TAG]
# It has two nodes that accept pods, metrics-server, Traefik as the controller of a Gateway and of Ingresses, at port
# 30090 of localhost, and the images that "make images" has built, and that of express/. Needs kind 0.24 or later, whose network enforces
# NetworkPolicies, Docker, kubectl, and Go for the kinds of Gateway API.
set -euo pipefail
cd "$(dirname "$0")"
name=${1:?'Usage: create-kind.sh NAME [TAG]'}
tag=${2:-dev}
gateway_api=sigs.k8s.io/gateway-api@v1.4.1
metrics_server=https://github.com/kubernetes-sigs/metrics-server/releases/download/v0.8.1/components.yaml
image=${KIND_IMAGE:-$(sed -n "s/^ *'\(kindest\/node:.*\)';$/\1/p" ../../deploy/local/cluster/kind.ts)}

# prepare: the output of the commands is no variable.
prepare() {
  kind create cluster --name "$name" --image "$image" --config kind.yaml --wait 180s
  kubectl taint nodes --all node-role.kubernetes.io/control-plane:NoSchedule-
  for folder in ../../services/*/; do kind load docker-image --name "$name" "fw-$(basename "$folder"):$tag"; done
  kind load docker-image --name "$name" "shop:$tag"
  kubectl apply --server-side --filename \
    "$(go mod download -json "$gateway_api" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')/config/crd/standard"
  kubectl apply --filename traefik.yaml --filename "${METRICS_SERVER_MANIFEST:-$metrics_server}"
  # The certificates of kind's kubelets are self-signed.
  kubectl --namespace kube-system patch deployment metrics-server --type json \
    --patch '[{"op":"add","path":"/spec/template/spec/containers/0/args/-","value":"--kubelet-insecure-tls"}]'
  kubectl --namespace kube-system rollout status deployment/metrics-server --timeout 180s
  kubectl --namespace gateways rollout status deployment/traefik --timeout 180s
}
prepare >&2

cat <<EOF
E2E_CONTEXT=kind-$name
E2E_ALLOW_NODES=1
IMAGE_PREFIX=
TAG=$tag
KILL_NODE=docker kill
START_NODE=docker start
GATEWAY=gateways/public
INGRESS_CLASS=traefik
CONTROLLER=gateways/traefik
CONTROLLER_ADDRESS=http://localhost:30090
EOF
