#!/bin/sh
# Starts Grafana without a login, with Prometheus, Jaeger, and the dashboard of the chart common for each service in
# $SERVICES.
set -eu
FOLDER=/tmp/provisioning
mkdir -p "$FOLDER/datasources" "$FOLDER/dashboards"
cat >"$FOLDER/datasources/observe.yaml" <<EOF
apiVersion: 1
datasources:
  - { name: Prometheus, type: prometheus, url: http://prometheus:9090, isDefault: true }
  - { name: Jaeger, type: jaeger, url: http://jaeger:16686 }
EOF
cat >"$FOLDER/dashboards/observe.yaml" <<EOF
apiVersion: 1
providers: [{ name: services, type: file, options: { path: $FOLDER/dashboards } }]
EOF
for name in $SERVICES; do
  sed "s/NAMESPACE/compose/g; s/SERVICE/$name/g" /dashboard.json >"$FOLDER/dashboards/$name.json"
done
export GF_PATHS_PROVISIONING="$FOLDER" GF_AUTH_ANONYMOUS_ENABLED=true GF_AUTH_ANONYMOUS_ORG_ROLE=Editor
exec /run.sh
