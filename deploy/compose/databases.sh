#!/bin/sh
# Creates what is missing: for each service a role that is no superuser, and a database that only this role may open.
set -eu
PGPASSWORD=$(cat /secrets/postgres/password)
export PGPASSWORD PGHOST=postgres PGUSER=postgres

for file in /secrets/databases/*/DATABASE_URL; do
  name=$(sed -E 's|.*//([^:]*):.*|\1|' "$file")
  password=$(sed -E 's|.*:([^@]*)@.*|\1|' "$file")
  psql --quiet --set=ON_ERROR_STOP=1 --set=name="$name" --set=password="$password" <<'SQL'
SELECT format('CREATE ROLE %I LOGIN', :'name')
  WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'name') \gexec
ALTER ROLE :"name" PASSWORD :'password';
SELECT format('CREATE DATABASE %I OWNER %I', :'name', :'name')
  WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'name') \gexec
REVOKE CONNECT ON DATABASE :"name" FROM PUBLIC;
SQL
done
