#!/usr/bin/env bash
# Builds the image, starts deploy/docker-compose.yml with two of each service that may have replicas, runs prompts on it
# with the command line, and compares what SQL shows. Ends and removes all of it.
# Exit code: 0 all as expected, 3 there is no Compose and no way to one, else what went wrong.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
export COMPOSE_PROJECT_NAME="${COMPOSE_PROJECT_NAME:-jetloop-check-$$}" JETLOOP_IMAGE="${JETLOOP_IMAGE:-jetloop-check}"
prompts=6
services=(loop-orchestrator llm-router tool-runner hook-policy acp-bridge session-projector)

say() { printf 'compose-check: %s\n' "$*" >&2; }
# The plugin, or the stand-alone program that some distributions have.
if docker compose version >/dev/null 2>&1; then
  compose() { docker compose -f deploy/docker-compose.yml "$@"; }
elif command -v docker-compose >/dev/null; then
  compose() { docker-compose -f deploy/docker-compose.yml "$@"; }
else
  say 'neither "docker compose" nor docker-compose is installed'
  exit 3
fi

free_port() {
  "$root/node_modules/.bin/node" -e '
    const server = require("node:net").createServer().listen(0, "127.0.0.1", () => {
      console.log(server.address().port);
      server.close();
    });'
}
JETLOOP_NATS_PORT="$(free_port)"
JETLOOP_POSTGRES_PORT="$(free_port)"
export JETLOOP_NATS_PORT JETLOOP_POSTGRES_PORT

log="$(mktemp)"
finish() {
  local code=$?
  if [ "$code" != 0 ]; then
    tail -n 40 "$log" >&2
    compose ps >&2 || true
    compose logs --tail 30 >&2 || true
  fi
  compose down --volumes --timeout 10 >/dev/null 2>&1 || true
  rm -f "$log"
  exit "$code"
}
trap finish EXIT

say 'building the image'
DOCKER_BUILDKIT=0 docker build -f deploy/Dockerfile --build-arg "NODE_IMAGE=${NODE_IMAGE:-node:24-slim}" -t "$JETLOOP_IMAGE" . \
  >"$log" 2>&1
[ "$(docker image inspect --format '{{.Config.User}}' "$JETLOOP_IMAGE")" = 1000:1000 ]

say 'starting NATS, Postgres, the set-up job and two of each service'
scale=()
for service in "${services[@]}"; do scale+=(--scale "$service=2"); done
compose up --detach --no-build "${scale[@]}" >"$log" 2>&1
healthy=0
expected=$((2 * ${#services[@]}))
for _ in $(seq 90); do
  healthy="$(docker ps --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" --filter health=healthy \
    --format '{{.Label "com.docker.compose.service"}}' | grep -cv '^postgres$' || true)"
  [ "$healthy" -lt "$expected" ] || break
  sleep 2
done
say "$healthy of $expected service containers are healthy"
[ "$healthy" = "$expected" ]

jetloop() { "$root/node_modules/.bin/node" services/cli/bin/jetloop.js "$@"; }
for ((i = 1; i <= prompts; i++)); do
  jetloop run 'What is here?' --nats "nats://127.0.0.1:$JETLOOP_NATS_PORT" >"$log" 2>&1
done

count='
  const { default: pg } = await import("pg");
  const client = new pg.Client(process.env.DATABASE_URL);
  await client.connect();
  const { rows } = await client.query(process.argv[1]);
  console.log(Object.values(rows[0]).join(" "));
  await client.end();'
query="select (select count(*) from turns where end_reason = 'completed') as turns, (select count(*) from tool_calls) as calls"
projector="$(compose ps -q session-projector | head -n 1)"
found=''
for _ in $(seq 30); do
  found="$(docker exec "$projector" node --input-type=module -e "$count" "$query")"
  [ "$found" != "$prompts $prompts" ] || break
  sleep 1
done
say "SQL: completed turns and tool calls: $found; expected $prompts $prompts"
[ "$found" = "$prompts $prompts" ]
