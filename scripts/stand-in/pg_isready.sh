#!/bin/bash
# As much of pg_isready as a health check needs: exit code 0 when the server accepts connections over TCP.
set -eu
[ "$(sed -n 8p "$PGDATA/postmaster.pid" | tr -d ' ')" = ready ]
exec 3<>/dev/tcp/127.0.0.1/5432
