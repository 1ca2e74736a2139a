#!/bin/sh
# Writes each secret that is missing to the volume of the container that reads it.
set -eu
cd /secrets

random() { od -An -tx1 -N24 /dev/urandom | tr -d ' \n'; }

[ -s postgres/password ] || random >postgres/password
for folder in databases/*/; do
  name=$(basename "$folder")
  [ -s "$folder/DATABASE_URL" ] || echo "postgres://$name:$(random)@postgres/$name" >"$folder/DATABASE_URL"
  sed -E 's|.*:([^@]*)@.*|\1|' "$folder/DATABASE_URL" >"postgres/$name-password"
done
if [ ! -s reports/REDIS_URL ]; then
  password=$(random)
  echo "requirepass $password" >valkey/valkey.conf
  echo "redis://:$password@valkey:6379" >reports/REDIS_URL
fi
# The secret in the environment takes precedence: with it, "make token" and "make smoke" sign tokens.
if [ -n "$JWT_SECRET" ]; then
  printf %s "$JWT_SECRET" >reports/JWT_SECRET
elif [ ! -s reports/JWT_SECRET ]; then
  random >reports/JWT_SECRET
fi
