#!/bin/sh
# Runs once, when the database is first made: one role a service, with its own password. What each
# role may do is granted by `sabacc migrate`, every time it runs.
set -eu
for service in table dealer wallet; do
  psql --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<SQL
\\set password \`cat "/run/secrets/db_$service"\`
CREATE ROLE sabacc_$service LOGIN PASSWORD :'password';
SQL
done
