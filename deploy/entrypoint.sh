#!/bin/sh
# Says what the container is: `jetloop ...` the command, `prepare` the set-up job, a service's name the service, anything
# else a program. With exec, so that the process gets the container's signals itself.
set -eu

# Room for young objects (MiB, at most three times so much): a third less memory than by default at the same speed.
readonly young=8

name="${1:-}"
case "$name" in
  jetloop) shift && exec node /app/services/cli/bin/jetloop.js "$@" ;;
  prepare) exec node /app/deploy/prepare.mjs ;;
  '' | *[!a-z-]*) ;;
  *)
    # The bundle of a service is there sooner; hook-policy has none.
    for main in "/app/dist/$name.js" "/app/services/$name/dist/main.js"; do
      [ ! -f "$main" ] || exec node "--max-semi-space-size=$young" "$main"
    done
    ;;
esac
if ! command -v "$name" >/dev/null 2>&1; then
  echo "\"$name\" is no service. Services: $(cd /app/services && ls -d */dist/main.js | sed 's,/.*,,' | grep -v '^cli$' | tr '\n' ' ')" >&2
  exit 64
fi
exec "$@"
