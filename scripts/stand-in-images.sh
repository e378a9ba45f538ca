#!/usr/bin/env bash
# Builds stand-ins for the official images where no image registry can be reached: a small userland from the packages of
# the Debian mirror that this machine is configured for, and on it the programs that the project has anyway.
#
#   scripts/stand-in-images.sh [nats] [postgres] [node]      default: all three
#
# Needs: a Docker engine, apt, and the project installed (`npm ci && npm run build`). Not root.
# Names: $JETLOOP_NATS_IMAGE (default jetloop-standin/nats), $JETLOOP_POSTGRES_IMAGE (jetloop-standin/postgres),
# $NODE_IMAGE (jetloop-standin/node). They behave like the official images as far as this project uses them.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
nats_image="${JETLOOP_NATS_IMAGE:-jetloop-standin/nats}"
postgres_image="${JETLOOP_POSTGRES_IMAGE:-jetloop-standin/postgres}"
node_image="${NODE_IMAGE:-jetloop-standin/node}"
base_image="${JETLOOP_STANDIN_BASE:-jetloop-standin/base}"
packages=(base-files base-passwd usr-is-merged bash dash coreutils findutils grep sed tar gzip mawk libc-bin hostname procps
  libstdc++6 libatomic1)

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
say() { printf 'stand-in-images: %s\n' "$*" >&2; }
# Where the builder of BuildKit is not installed, the engine's own one does the same.
build() { DOCKER_BUILDKIT=0 docker build --quiet "$@" 2> >(grep -v -e DEPRECATED -e "BuildKit is currently" -e "environment-variable" -e "^$" >&2) >/dev/null; }

# The packages and all that they need, as on a system that has none yet.
download() {
  (cd "$1" && apt-get -qq -y --download-only --no-install-recommends \
    -o "Dir::State::status=$1/status" -o "Dir::State::extended_states=$1/extended" \
    -o "Dir::Cache::archives=$1/archives" -o Debug::NoLocking=1 -o "APT::Sandbox::User=$(id -un)" \
    install "${packages[@]}") </dev/null >&2
}

# Packages are unpacked and not configured: that needs no root and takes seconds, and the programs only need their files.
build_base() {
  say "$base_image: unpacking Debian packages"
  local tree="$work/tree" state="$work/apt"
  mkdir -p "$state/archives/partial"
  : >"$state/status"
  # Package lists that are missing or stale are brought up to date, which only root may do.
  download "$state" || { [ "$(id -u)" = 0 ] && apt-get -qq update </dev/null >&2 && download "$state"; }
  mkdir -p "$tree"/{proc,sys,dev,run,home,root,etc,var/lib,usr/{bin,sbin,lib,lib64}}
  local name package
  for name in bin sbin lib lib64; do ln -s "usr/$name" "$tree/$name"; done
  for package in "$state"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x --no-same-owner --keep-directory-symlink -C "$tree"
  done
  rm -rf "$tree"/usr/share/{doc,man,locale,info}
  ln -sf dash "$tree/usr/bin/sh"
  ln -sf mawk "$tree/usr/bin/awk"
  mkdir -p "$tree/tmp" && chmod 1777 "$tree/tmp"
  cp "$tree/usr/share/base-passwd/passwd.master" "$tree/etc/passwd"
  cp "$tree/usr/share/base-passwd/group.master" "$tree/etc/group"
  ldconfig -r "$tree" 2>/dev/null || /sbin/ldconfig -r "$tree"
  # What this machine trusts, so that a build in the image reaches the same package registry.
  mkdir -p "$tree/etc/ssl/certs"
  cp -L /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/" 2>/dev/null || say 'no certificates to copy'
  tar -c --owner=0 --group=0 --numeric-owner -C "$tree" . |
    docker import --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
      --change 'CMD ["bash"]' - "$base_image" >/dev/null
}

build_nats() {
  say "$nats_image"
  local context="$work/nats"
  mkdir -p "$context"
  # The project's own way to the program: found on this machine, or fetched once into its cache.
  local script='
    const { provideNatsServer } = await import(process.argv[1]);
    console.log((await provideNatsServer(process.env, console.error)).path);'
  local program
  program="$("$root/node_modules/.bin/node" --input-type=module -e "$script" \
    "$root/libs/testing/dist/servers/nats/provide-nats-server.js")"
  cp "$program" "$context/nats-server"
  cat >"$context/Dockerfile" <<DOCKERFILE
FROM $base_image
COPY nats-server /nats-server
EXPOSE 4222 8222 6222
ENTRYPOINT ["/nats-server"]
DOCKERFILE
  build -t "$nats_image" "$context"
}

build_postgres() {
  say "$postgres_image"
  local context="$work/postgres"
  mkdir -p "$context"
  local script='
    const { postgresFolder } = await import(process.argv[1]);
    console.log(await postgresFolder());'
  local programs
  programs="$("$root/node_modules/.bin/node" --input-type=module -e "$script" \
    "$root/libs/testing/dist/servers/postgres/postgres-programs.js")"
  cp -a "$programs" "$context/postgres"
  cp "$root/scripts/stand-in/postgres-entrypoint.sh" "$root/scripts/stand-in/pg_isready.sh" "$context/"
  cat >"$context/Dockerfile" <<DOCKERFILE
FROM $base_image
COPY postgres /usr/local/postgres
COPY postgres-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
COPY pg_isready.sh /usr/local/bin/pg_isready
ENV PATH=/usr/local/postgres/bin:/usr/local/bin:/usr/bin PGDATA=/var/lib/postgresql/18/docker LC_ALL=C
RUN chmod 755 /usr/local/bin/* && chmod -R a+rX /usr/local/postgres \
 && echo 'postgres:x:999:999::/var/lib/postgresql:/bin/sh' >>/etc/passwd && echo 'postgres:x:999:' >>/etc/group \
 && mkdir -p /var/lib/postgresql && chown 999:999 /var/lib/postgresql
USER postgres
VOLUME /var/lib/postgresql
STOPSIGNAL SIGINT
EXPOSE 5432
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
DOCKERFILE
  build -t "$postgres_image" "$context"
}

build_node() {
  say "$node_image"
  local context="$work/node"
  mkdir -p "$context"
  cp -L "$root/node_modules/node/bin/node" "$context/node"
  # npm where the command really is: the global folder of the Node that runs here may be another.
  cp -aL "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$context/npm"
  cat >"$context/Dockerfile" <<DOCKERFILE
FROM $base_image
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
 && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx && node --version && npm --version \
 && echo 'node:x:1000:1000::/var/lib/node:/bin/bash' >>/etc/passwd && echo 'node:x:1000:' >>/etc/group \
 && mkdir -p /var/lib/node && chown 1000:1000 /var/lib/node
CMD ["node"]
DOCKERFILE
  build -t "$node_image" "$context"
}

wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=(nats postgres node)
docker image inspect "$base_image" >/dev/null 2>&1 || build_base
for image in "${wanted[@]}"; do
  case "$image" in
    nats | postgres | node) "build_$image" ;;
    *) say "unknown image \"$image\"; expected nats, postgres or node" && exit 2 ;;
  esac
done
