#!/bin/sh
# Starts nginx with the files of deploy/nginx, and with a listen.conf and an upstreams.conf of its own. Those in
# deploy/nginx, which "make up" replaces too, explain the directives.
set -eu
cd /edge

# upstream NAME SERVER
upstream() { printf 'upstream %s {\n  server %s;\n  keepalive 256;\n  keepalive_timeout 3s;\n}\n' "$1" "$2"; }

cp -R /nginx/*.conf /nginx/page .
echo "{\"services\":[\"$(echo "$SERVICES" | sed 's/ /","/g')\"],\"replicas\":{},\"links\":{}}" >page/system.json
cat >listen.conf <<EOF
listen 8080;
set \$page_etag '"$(cat page/* | sha256sum | cut -c 1-16)"';
EOF
{
  printf 'map $service_name $service {\n  default "";\n'
  for name in $SERVICES; do echo "  $name $name;"; done
  echo '}'
  for name in $SERVICES; do
    # One container per service; nginx.maxConnectionsPerPod of the chart has the same limits.
    [ "$name" = reports ] && limit=400 || limit=200
    upstream "$name" "$name:8080 max_conns=$limit"
    upstream "${name}_critical" "$name:8080"
  done
} >upstreams.conf
exec nginx -e stderr -p /edge -c nginx.conf
