# One image per service: docker build --build-arg SERVICE=users --tag fw-users .
# BUILD_IMAGE is Debian with Node 26, npm and find; its Node also runs the service, so that its tag pins both.
# RUN_IMAGE needs only the C and C++ libraries of Debian, of the same or a later release.
ARG BUILD_IMAGE=node:26.10.0-trixie-slim
ARG RUN_IMAGE=gcr.io/distroless/cc-debian13:nonroot

# Node for the platform of the image. No command runs in this stage, which may be of another platform than the builder.
FROM ${BUILD_IMAGE} AS node

# Only what npm reads: the packages stay in the cache until one of these files changes. These stages run on the platform
# of the builder: what they add to the image is the same for every platform.
FROM --platform=${BUILDPLATFORM:-linux} ${BUILD_IMAGE} AS manifests
WORKDIR /fw
COPY package.json package-lock.json ./
COPY framework framework
COPY services services
RUN find . -depth ! -name package.json ! -name package-lock.json \( -type f -o -empty \) -delete

FROM --platform=${BUILDPLATFORM:-linux} ${BUILD_IMAGE} AS packages
WORKDIR /fw
COPY --from=manifests /fw ./
RUN npm ci --ignore-scripts --no-audit --no-fund --loglevel=error

# What the image adds to its base, in /image/app: the bundle, the data of the service and its bill of materials, from
# the production dependencies. The same sources give the same bytes, modes and times.
FROM packages AS build
COPY framework framework
COPY services services
COPY deploy/local/build.ts deploy/local/
ARG SOURCE_DATE_EPOCH=0
ARG SERVICE
RUN node deploy/local/build.ts "$SERVICE" && rm "services/$SERVICE"/dist/*.map && mkdir -p /image/app && \
  cp -r "services/$SERVICE"/package.json "services/$SERVICE"/dist /image/app && \
  if [ -d "services/$SERVICE/data" ]; then cp -r "services/$SERVICE/data" /image/app; fi && \
  npm pkg delete devDependencies peerDependencies --workspaces --include-workspace-root && \
  npm sbom --sbom-format=cyclonedx --workspace="@fw/$SERVICE" >/tmp/sbom.json && \
  sed '/"serialNumber"/d; /"timestamp"/d' /tmp/sbom.json >/image/app/sbom.cdx.json && \
  chmod -R u=rwX,go=rX /image && find /image -exec touch --date="@$SOURCE_DATE_EPOCH" {} +

FROM ${RUN_IMAGE}
# Node needs libatomic, which RUN_IMAGE lacks. /usr/lib is on the search path of every platform.
COPY --from=node /usr/local/bin/node /usr/local/bin/
COPY --from=node /usr/lib/*-linux-gnu/libatomic.so.1* /usr/lib/
USER 65532:65532
ENV PATH=/usr/local/bin:$PATH NODE_ENV=production HOST=0.0.0.0 PORT=8080 HEALTH_PORT=9090 LOG_FORMAT=json \
  SQLITE_TMPDIR=/data
EXPOSE 8080 9090
# The metrics of the process come from /proc. Without --disable-warning, Node's warning about --allow-net
# would be the only log line that is not JSON.
ENTRYPOINT ["node", \
  "--permission", \
  "--allow-fs-read=/app", \
  "--allow-fs-read=/data", \
  "--allow-fs-read=/run/secrets", \
  "--allow-fs-read=/proc/self/fd", \
  "--allow-fs-read=/proc/self/limits", \
  "--allow-fs-read=/proc/self/stat", \
  "--allow-fs-read=/proc/self/status", \
  "--allow-fs-write=/data", \
  "--allow-net", \
  "--disable-warning=ExperimentalWarning", \
  "--max-old-space-size-percentage=50", \
  "/app/dist/main.js"]
# The only layer of the service. It must be the last: a WORKDIR after it would add another.
COPY --from=build /image/ /

ARG SERVICE
ENV DATABASE_FILE=/data/$SERVICE.db

ARG RUN_IMAGE
# `make images` adds the version, the revision and the source.
LABEL org.opencontainers.image.title="fw-$SERVICE" \
  org.opencontainers.image.description="The service $SERVICE: its API on port 8080, health and metrics on 9090" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.base.name="$RUN_IMAGE" \
  fw.sbom="/app/sbom.cdx.json"
