#!/usr/bin/env bash
# Starts a Docker engine by hand, for machines without a service manager, and ends it again.
#
#   scripts/docker-engine.sh start <folder>   installs docker.io with apt where it is missing (root), starts dockerd with
#                                             its data under <folder>, waits until it answers, prints DOCKER_HOST
#   scripts/docker-engine.sh stop <folder>    ends that engine, by its process id; the data stays for the next start
#
# Exit code: 0 it runs (or an engine that DOCKER_HOST or the default socket names already did), 3 there is no way to one.
set -euo pipefail

action="${1:?start or stop}"
folder="$(mkdir -p "${2:?folder for the engine}" && cd "$2" && pwd)"
pid_file="$folder/dockerd.pid"
socket="unix://$folder/docker.sock"
log="$folder/dockerd.log"

say() { printf 'docker-engine: %s\n' "$*" >&2; }
cannot() {
  say "$*"
  exit 3
}

install_engine() {
  command -v dockerd >/dev/null && return
  command -v apt-get >/dev/null || cannot 'no dockerd, and no apt-get to install one'
  say 'installing docker.io'
  {
    apt-get update
    DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get install -y --no-install-recommends docker.io iptables
  } >"$folder/apt.log" 2>&1 </dev/null || cannot "docker.io cannot be installed, see $folder/apt.log"
  command -v dockerd >/dev/null || cannot 'docker.io brought no dockerd'
}

start() {
  if command -v docker >/dev/null && docker info >/dev/null 2>&1; then
    say 'an engine answers already'
    echo "${DOCKER_HOST:-$(docker context inspect --format '{{.Endpoints.docker.Host}}')}"
    return
  fi
  [ "$(id -u)" = 0 ] || cannot 'no engine answers, and only root can start one'
  install_engine
  command -v docker >/dev/null || cannot 'there is a dockerd and no docker command'
  # A session of its own: Ctrl-C reaches the caller, which decides when the engine ends.
  setsid dockerd --host "$socket" --data-root "$folder/data" --exec-root "$folder/exec" --pidfile "$pid_file" \
    >"$log" 2>&1 </dev/null &
  local engine=$!
  for _ in $(seq 120); do
    if DOCKER_HOST="$socket" docker info >/dev/null 2>&1; then
      echo "$socket"
      return
    fi
    kill -0 "$engine" 2>/dev/null || break
    sleep 0.5
  done
  tail -n 5 "$log" >&2
  kill "$engine" 2>/dev/null || true
  cannot "dockerd does not start, see $log"
}

stop() {
  [ -f "$pid_file" ] || return 0
  local engine
  engine="$(cat "$pid_file")"
  kill "$engine" 2>/dev/null || return 0
  for _ in $(seq 60); do
    kill -0 "$engine" 2>/dev/null || return 0
    sleep 0.5
  done
  say "dockerd ($engine) did not end in 30 s: killed"
  kill -9 "$engine" 2>/dev/null || true
}

case "$action" in
  start) start ;;
  stop) stop ;;
  *) say "unknown action \"$action\"; expected start or stop" && exit 2 ;;
esac
