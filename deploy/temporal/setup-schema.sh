#!/bin/sh
# Brings the schemas of Temporal's two databases to the version of this image. Safe to repeat.
set -eu
: "${POSTGRES_SEEDS:?is the host of PostgreSQL}" "${POSTGRES_USER:?}" "${SQL_PASSWORD:?}"

schema() {
  database=$1
  folder=$2
  set -- temporal-sql-tool --plugin postgres12 --endpoint "$POSTGRES_SEEDS" --port "${DB_PORT:-5432}" \
    --user "$POSTGRES_USER" --database "$database"
  "$@" create
  "$@" setup-schema --version 0.0
  "$@" update-schema --schema-dir "/etc/temporal/schema/postgresql/v12/$folder/versioned"
}

schema temporal temporal
schema temporal_visibility visibility
