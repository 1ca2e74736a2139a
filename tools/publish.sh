#!/usr/bin/env bash
# Publishes the images and the charts of this commit, each with a signature, and with signed SBOM and provenance:
#   make publish REGISTRY=registry.example.org/fw TAG=0.1.0 [COSIGN_KEY=cosign.key] [SOURCE=https://git.example.org/fw]
# Registry credentials are those of "docker login". Without COSIGN_KEY, GitHub Actions signs as its workflow.
set -euo pipefail
cd "$(dirname "$0")/.."

# The type of the statement that "cosign sign" signs.
SIGNATURE=https://sigstore.dev/cosign/sign/v1

fail() { echo "$*" >&2 && exit 1; }

# attempt ACTION COMMAND…: prints the output of the command. If it fails, the last line is the reason.
attempt() {
  local output
  output=$("${@:2}" 2>&1 </dev/null) || fail "Cannot $1: $(tail -n 1 <<<"$output")"
  echo "$output"
}

# expect NAME PATTERN DESCRIPTION: checks the variable NAME.
expect() {
  [ -n "${!1:-}" ] || fail "$1 is missing: expected $3"
  [[ ${!1} =~ $2 ]] || fail "$1 is \"${!1}\": expected $3"
}

# verified REFERENCE TYPE: whether an artefact has a statement of this type, signed as this run signs.
verified() { cosign verify-attestation "${verifying[@]}" --type "$2" "$1" >/dev/null 2>&1 </dev/null; }

# attest REFERENCE TYPE FILE
attest() {
  verified "$1" "$2" ||
    attempt "attest $1" cosign attest "${signing[@]}" --type "$2" --predicate "$3" "$1" >/dev/null
}

# publish_evidence REFERENCE SBOM SUBJECT: attests and signs an artefact. What is there already stays.
publish_evidence() {
  provenance "$3" >"$work/provenance.json"
  attest "$1" slsaprovenance1 "$work/provenance.json"
  attest "$1" cyclonedx "$2"
  verified "$1" "$SIGNATURE" ||
    attempt "sign $1" cosign sign "${signing[@]}" "$1" >/dev/null
  echo "$1"
}

# scan REFERENCE: the command SCAN decides whether the image may be published.
scan() { [ -z "${SCAN:-}" ] || $SCAN "$1" >&2 </dev/null || fail "Cannot publish $1: \"$SCAN\" rejects it"; }

# provenance SUBJECT: prints the predicate of https://slsa.dev/spec/v1.0/provenance.
provenance() {
  SUBJECT=$1 source=$source revision=$revision node -p 'const { env } = process;
    const run = env.GITHUB_RUN_ID && `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}/actions/runs/${env.GITHUB_RUN_ID}`;
    const commit = env.revision.endsWith("-dirty") ? {} : { digest: { gitCommit: env.revision } };
    JSON.stringify({
      buildDefinition: {
        buildType: `${env.source}#make-publish`,
        externalParameters: { artefact: env.SUBJECT, revision: env.revision },
        resolvedDependencies: [{ uri: `git+${env.source}`, ...commit }],
      },
      runDetails: {
        builder: { id: run ? `${env.GITHUB_SERVER_URL}/${env.GITHUB_WORKFLOW_REF}` : `${env.source}#local` },
        ...(run && { metadata: { invocationId: run } }),
      },
    })'
}

# chart_sbom CHART IMAGES: prints the images of a chart as CycloneDX.
chart_sbom() {
  CHART=$1 IMAGES=$2 node -p 'const { CHART, IMAGES, TAG, REGISTRY } = process.env;
    const purl = (reference) => {
      const [, repository, tag, digest] = /^(.+?)(?::([^:@\/]+))?(?:@(.+))?$/.exec(reference);
      const version = digest ? `@${encodeURIComponent(digest)}` : "";
      return `pkg:oci/${repository.split("/").at(-1)}${version}?repository_url=${repository}&tag=${tag}`;
    };
    const component = (type, reference) => ({ type, name: reference, "bom-ref": reference, purl: purl(reference) });
    JSON.stringify({
      bomFormat: "CycloneDX", specVersion: "1.5", version: 1,
      metadata: { component: component("application", `${REGISTRY}/charts/${CHART}:${TAG}`) },
      components: IMAGES.split("\n").filter(Boolean).map((image) => component("container", image)),
    })'
}

# sort_archive FILE: sorts the entries of a .tgz by name, because Helm writes subcharts in random order.
sort_archive() {
  node -e 'const [, file] = process.argv;
    const tar = zlib.gunzipSync(fs.readFileSync(file));
    const entries = [];
    for (let start = 0; tar[start] !== 0; ) {
      const size = Number.parseInt(tar.toString("latin1", start + 124, start + 136), 8);
      const end = start + 512 + 512 * Math.ceil(size / 512);
      entries.push(tar.subarray(start, end));
      start = end;
    }
    const sorted = Buffer.concat([...entries.sort(Buffer.compare), Buffer.alloc(1024)]);
    fs.writeFileSync(file, zlib.gzipSync(sorted))' "$1"
}

# 1. Everything that can be wrong before something is published.
expect REGISTRY '^([a-z0-9-]+(\.[a-z0-9-]+)+(:[0-9]+)?|[a-z0-9-]+:[0-9]+)(/[a-z0-9._-]+)*$' \
  'a registry and a path, such as registry.example.org/fw'
expect TAG '^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-[0-9A-Za-z.-]+)?$' 'a version, such as 0.1.0'
revision=$(git describe --always --abbrev=40 --dirty --exclude='*')
[[ $revision != *-dirty ]] || [ -n "${ALLOW_DIRTY:-}" ] ||
  fail 'Cannot publish: commit the changes first, because the provenance names the commit'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -n "${COSIGN_KEY:-}" ]; then
  [[ $COSIGN_KEY == *://* ]] || [ -f "$COSIGN_KEY" ] || fail "COSIGN_KEY is \"$COSIGN_KEY\": there is no such file"
  if [ -z "${COSIGN_PASSWORD+set}" ] && [ -t 0 ]; then read -rsp 'Password of COSIGN_KEY: ' COSIGN_PASSWORD && echo; fi
  export COSIGN_PASSWORD=${COSIGN_PASSWORD:-}
  # No service of Sigstore takes part: no transparency log, no time stamps.
  signing=(--yes --key "$COSIGN_KEY" --signing-config tools/publish/signing-config.json
    --trusted-root tools/publish/trusted-root.json)
  verifying=(--key "$work/cosign.pub" --insecure-ignore-tlog)
elif [ -n "${ACTIONS_ID_TOKEN_REQUEST_URL:-}" ]; then
  signing=(--yes)
  verifying=(--certificate-identity "$GITHUB_SERVER_URL/$GITHUB_WORKFLOW_REF"
    --certificate-oidc-issuer https://token.actions.githubusercontent.com)
else
  fail 'COSIGN_KEY is missing: expected the file of a private key; only GitHub Actions signs without one'
fi
attempt 'reach the Docker engine' docker version >/dev/null
node tools/programs.ts helm cosign
[ -z "${COSIGN_KEY:-}" ] || attempt 'use COSIGN_KEY' cosign public-key --key "$COSIGN_KEY" --outfile "$work/cosign.pub" >/dev/null
[ -z "${NPM_SCOPE:-}" ] || node tools/packages/publish.ts --check

source=${SOURCE:-$(git remote get-url origin 2>/dev/null | sed -E 's|//[^@/]*@|//|' || true)}
charts=$REGISTRY/charts
# As Docker and cosign do, Helm reads the credentials of "docker login", and uses HTTP for loopback addresses.
export HELM_REGISTRY_CONFIG=${DOCKER_CONFIG:-$HOME/.docker}/config.json
plain=
[[ ! $REGISTRY =~ ^(localhost|127\.[0-9.]+): ]] || plain=--plain-http

# A published version never changes. The chart of the platform is published last.
published=$(helm show chart "oci://$charts/platform" --version "$TAG" $plain 2>/dev/null || true)
if [ -n "$published" ]; then
  commit=$(sed -n 's/^ *org.opencontainers.image.revision: *"*\([^"]*\).*/\1/p' <<<"$published")
  [ "$commit" = "$revision" ] || fail "TAG is \"$TAG\": this version is published from commit ${commit:-unknown}, choose another"
  if verified "$charts/platform:$TAG" "$SIGNATURE"; then
    echo "Nothing to do: $TAG is published in $REGISTRY" && exit
  fi
fi

# 2. The images. A builder in a container builds for two platforms and pushes by digest; an engine pushes its own
# platform with the tag.
services=$(node -p 'require("./services/services.ts").SERVICE_NAMES.join(" ")')
driver=$(docker buildx inspect 2>/dev/null | sed -n 's/^Driver: *//p' || true)
if [[ ${driver:-docker} == docker ]]; then
  echo "Building for $(docker version --format '{{.Server.Os}}/{{.Server.Arch}}' 2>/dev/null) only: \
\"docker buildx create --use\" starts a builder for linux/amd64 and linux/arm64"
  make --silent images TAG="$TAG" SOURCE="$source"
else
  make --silent images TAG="$TAG" SOURCE="$source" BUILD_COMMAND="docker buildx build --platform=linux/amd64,linux/arm64 \
    --provenance=false --sbom=false --build-arg=SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) --metadata-file='$work/\$*.json' \
    --output=type=image,name=$REGISTRY/fw-\$*,push=true,push-by-digest=true,name-canonical=true,rewrite-timestamp=true"
fi
cp -RP deploy/charts deploy/nginx "$work" # The chart of the platform has links to both.
for name in $services; do
  image=$REGISTRY/fw-$name
  if [ -f "$work/$name.json" ]; then
    digest=$(node -p 'require(process.argv[1])["containerimage.digest"]' "$work/$name.json")
    scan "$image@$digest"
  else
    docker tag "fw-$name:$TAG" "$image:$TAG"
    scan "$image:$TAG"
    digest=$(attempt "push $image" docker push "$image:$TAG" | sed -n 's/.* digest: \(sha256:[0-9a-f]*\) .*/\1/p')
  fi
  container=$(attempt "read $image" docker create --quiet "$image@$digest" | tail -n 1)
  docker cp "$container:/app/sbom.cdx.json" "$work/sbom.json" >/dev/null 2>&1
  docker rm "$container" >/dev/null
  publish_evidence "$image@$digest" "$work/sbom.json" "$image"
  [ ! -f "$work/$name.json" ] ||
    attempt "tag $image" docker buildx imagetools create --tag "$image:$TAG" "$image@$digest" >/dev/null
  # The default image of the chart.
  echo "$image:$TAG@$digest" >"$work/$name.image"
  awk -v image="  registry: $REGISTRY\n  digest: $digest" '{ print } /^  repository: fw-/ { print image }' \
    "deploy/charts/$name/values.yaml" >"$work/charts/$name/values.yaml"
  grep -q "$digest" "$work/charts/$name/values.yaml" ||
    fail "Cannot set the image of $name: expected the line \"  repository: fw-$name\" in its values.yaml"
done

# 3. The charts. The same commit and images give the same bytes: with the time of the commit.
export TZ=UTC0
time=$(git log -1 --date=format-local:%Y%m%d%H%M.%S --format=%cd)
sed -i.bak -E "s/^( *version|appVersion): .*/\1: $TAG/" "$work"/charts/*/Chart.yaml
for file in "$work"/charts/*/Chart.yaml; do
  printf 'annotations:\n  %s: "%s"\n  %s: "%s"\n' org.opencontainers.image.source "$source" \
    org.opencontainers.image.revision "$revision" >>"$file"
done
find "$work/charts" -name '*.bak' -delete
find "$work/charts" "$work/nginx" -exec touch -h -t "$time" {} +
for chart in common trial $services platform; do
  attempt "package $chart" helm package "$work/charts/$chart" --destination "$work" >/dev/null
  sort_archive "$work/$chart-$TAG.tgz"
  touch -t "$time" "$work/$chart-$TAG.tgz"
  # The chart of a service has one image, common none; trial has its servers, and the platform all and the edge.
  images=$(cat "$work/$chart.image" 2>/dev/null || true)
  [[ $chart != trial && $chart != platform ]] ||
    images=$(helm template "$chart" "$work/$chart-$TAG.tgz" | sed -nE 's/^ *image: "?([^"]+)"?$/\1/p' | sort -u)
  chart_sbom "$chart" "$images" >"$work/sbom.json"
  digest=$(attempt "push $charts/$chart" helm push "$work/$chart-$TAG.tgz" "oci://$charts" $plain |
    sed -n 's/^Digest: *//p')
  publish_evidence "$charts/$chart@$digest" "$work/sbom.json" "$charts/$chart"
done
