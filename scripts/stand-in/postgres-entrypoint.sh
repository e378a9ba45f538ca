#!/bin/bash
# Entry of the stand-in for the official postgres image: the same variables, and the same two starts at the first run.
set -euo pipefail

[ "${1:-}" = postgres ] || exec "$@"
user="${POSTGRES_USER:-postgres}"
database="${POSTGRES_DB:-$user}"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  if [ -z "${POSTGRES_PASSWORD:-}" ] && [ "${POSTGRES_HOST_AUTH_METHOD:-}" != trust ]; then
    echo 'Error: POSTGRES_PASSWORD is not set (or set POSTGRES_HOST_AUTH_METHOD=trust).' >&2
    exit 1
  fi
  mkdir -p "$PGDATA" && chmod 700 "$PGDATA"
  initdb -D "$PGDATA" --username="$user" --encoding=UTF8 --locale=C --auth-local=trust --no-instructions \
    --auth-host=scram-sha-256 --pwfile=<(printf '%s\n' "${POSTGRES_PASSWORD:-trust}")
  echo "host all all all ${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}" >>"$PGDATA/pg_hba.conf"
  if [ "$database" != postgres ]; then
    echo "CREATE DATABASE \"$database\"" | postgres --single -j -D "$PGDATA" postgres
  fi
  # The official image sets up on a server of its own, without TCP, before it starts the real one.
  pg_ctl -D "$PGDATA" -o "-c listen_addresses='' -c unix_socket_directories=/tmp" -w start
  pg_ctl -D "$PGDATA" -m fast -w stop
fi
shift
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp "$@"
