#!/bin/sh
# What the compose file relies on of the official image's start: in an empty volume a server is made, with a superuser of this
# password and a database of the superuser's name.
set -eu
: "${POSTGRES_USER:?}" "${POSTGRES_PASSWORD:?}"
export PGDATA=/var/lib/postgresql/data
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  printf '%s\n' "$POSTGRES_PASSWORD" > /tmp/password
  initdb --username "$POSTGRES_USER" --pwfile /tmp/password --auth-host scram-sha-256 --encoding UTF8 --locale C.UTF-8
  rm /tmp/password
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  echo "CREATE DATABASE $POSTGRES_USER;" | postgres --single postgres
fi
exec postgres -c listen_addresses='*'
