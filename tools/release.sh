#!/usr/bin/env bash
# Upgrades a Helm release, verifies its objectives with k6, and rolls back if one is missed:
#   make release TAG=1.2.3 BASE=https://fw.example [SERVICE=users] [VALUES=file.yaml]
#     [RELEASE=platform] [NAMESPACE=fw] [PROFILE=load] [TIMEOUT=5m]
set -euo pipefail
cd "$(dirname "$0")/.."

release=${RELEASE:-platform} profile=${PROFILE:-load} timeout=${TIMEOUT:-5m}
export HELM_NAMESPACE=${NAMESPACE:-fw}

fail() { echo "$*" >&2 && exit 1; }

# installed: prints the revision, the status and the chart of the release; nothing if there is none.
installed() {
  helm list --filter "^$release\$" --output json | node -p 'const [one] = JSON.parse(fs.readFileSync(0));
    one ? `${one.revision} ${one.status} ${one.chart.replace(/-\d+\.\d+\.\d+.*/, "")}` : ""'
}

# tags: prints the values that give the services the new tag. A shared tag would override that of one service.
tags() {
  local shared='' name
  if [ "$chart" != platform ]; then echo "image.tag=$TAG" && return; fi
  if [ -z "${SERVICE:-}" ]; then echo "global.image.tag=$TAG" && return; fi
  shared=$(helm get values "$release" --output json |
    node -p 'JSON.parse(fs.readFileSync(0))?.global?.image?.tag ?? ""')
  printf 'global.image.tag='
  for name in $(ls -d services/*/ | xargs -n 1 basename); do
    if [ "$name" = "$SERVICE" ]; then printf ',%s.image.tag=%s' "$name" "$TAG"
    elif [ -n "$shared" ]; then printf ',%s.image.tag=%s' "$name" "$shared"; fi
  done
}

[ -n "${TAG:-}${VALUES:-}" ] || fail 'TAG is missing: expected the tag of the images, or VALUES'
[ -n "${BASE:-}" ] || fail 'BASE is missing: expected the address of the system'
[ -z "${SERVICE:-}" ] || [ -d "services/$SERVICE" ] || fail "SERVICE is \"$SERVICE\": there is no such service"

read -r revision _ chart <<<"$(installed)"
[ -n "$revision" ] || fail "RELEASE is \"$release\": expected a release that is installed in $HELM_NAMESPACE"
# Helm cannot wait for a Rollout: it would roll back after its time-out.
if helm get manifest "$release" | grep -q '^kind: Rollout$'; then
  fail "Cannot release $release: it has Rollouts (progressiveDelivery.enabled), which verify each upgrade themselves"
fi

echo "Upgrading $release in $HELM_NAMESPACE from revision $revision"
options=(--reset-then-reuse-values --rollback-on-failure --wait --timeout "$timeout")
[ -z "${VALUES:-}" ] || options+=(--values "$VALUES")
[ -z "${TAG:-}" ] || options+=(--set-string "$(tags)")
if ! helm upgrade "$release" "deploy/charts/$chart" "${options[@]}" >/dev/null; then
  read -r after status _ <<<"$(installed)"
  [ "$after" != "$revision" ] || fail "Cannot upgrade $release (nothing was changed)"
  [ "$status" != deployed ] || fail "Cannot upgrade $release (Helm rolled it back)"
  fail "Cannot upgrade $release: its status is $status"
fi

echo "Verifying the objectives with the k6 profile $profile"
if node deploy/k6/run.ts --profile "$profile" --base "$BASE"; then
  echo "Released: $release meets its objectives" && exit
fi
echo "Rolling $release back to revision $revision"
helm rollback "$release" "$revision" --wait --timeout "$timeout" >/dev/null ||
  fail "Cannot roll $release back to revision $revision: the new version may be in use"
fail "Rolled back $release to revision $revision: objectives were missed, or k6 failed"
