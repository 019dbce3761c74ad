#!/usr/bin/env bash
# Builds bin/devserver, the embedded Temporal, once: nothing happens while the sources that made the binary are unchanged.
# Keep the flags: they leave out debug information that nobody reads here, and a build with others shares none of this
# one's cache (docs/adr/0002).
set -euo pipefail

cd "$(dirname "$0")"
bin=../../bin
stamp=$bin/devserver.stamp
mkdir -p "$bin"

sum() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }
want=$({ go env GOVERSION GOOS GOARCH; cat go.mod go.sum ./*.go build.sh; } | sum | cut -d' ' -f1)
if [ -x "$bin/devserver" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then
  exit 0
fi

server=$(go list -m -f '{{.Version}}' go.temporal.io/server)
echo "bin/devserver: compiling the embedded Temporal $server with its Web UI, once." \
  "Cold about 3 to 11 minutes on two cores, seconds when the Go build cache has it."

total=$(($(go list -deps . | wc -l)))
work=$(mktemp -d "$bin/.devserver.XXXXXX")
build=
cleanup() {
  if [ -n "$build" ]; then kill "$build" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# -v names each package as it is compiled, cached ones are not named: the count is of work done, the total its upper bound.
SECONDS=0
go build -v -ldflags='-s -w' -gcflags=all=-dwarf=false -o "$work/devserver" . 2>"$work/log" &
build=$!
tick=0
while kill -0 "$build" 2>/dev/null; do
  sleep 1
  tick=$((tick + 1))
  if [ $((tick % 10)) -eq 0 ]; then
    echo "bin/devserver: ${SECONDS}s, $(wc -l <"$work/log") of at most $total packages compiled"
  fi
done
if ! wait "$build"; then
  build=
  # Package names are progress; what is left is the compiler's, the linker's or the downloader's complaint.
  grep -Ev '^[a-z0-9][A-Za-z0-9._~/-]*$' "$work/log" >&2 || true
  echo "bin/devserver: the build failed after ${SECONDS}s" >&2
  exit 1
fi
build=
mv -f "$work/devserver" "$bin/devserver"
echo "$want" >"$stamp"
echo "bin/devserver: ready after ${SECONDS}s"
