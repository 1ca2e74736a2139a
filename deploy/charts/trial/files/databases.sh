#!/bin/sh
# Creates what is missing: for each file <name>-password a role that is no superuser, and a database that only this role
# may open. Data can outlive its passwords: each run sets them.
set -eu
cd /run/secrets/postgres
PGPASSWORD=$(cat password)
export PGPASSWORD

for file in *-password; do
  [ -e "$file" ] || continue
  psql --quiet --dbname=postgres --set=ON_ERROR_STOP=1 --set=name="${file%-password}" --set=password="$(cat "$file")" <<'SQL'
SELECT format('CREATE ROLE %I LOGIN', :'name')
  WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'name') \gexec
ALTER ROLE :"name" PASSWORD :'password';
SELECT format('CREATE DATABASE %I OWNER %I', :'name', :'name')
  WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'name') \gexec
REVOKE CONNECT ON DATABASE :"name" FROM PUBLIC;
SQL
done
