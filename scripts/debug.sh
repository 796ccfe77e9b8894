#!/usr/bin/env bash
# The debug commands under the name of the design's source: scripts/debug.sh list-checkpoints --task=T, and so on; also
# where it is called through symbolic links.
set -euo pipefail
self="${BASH_SOURCE[0]}"
while [ -L "$self" ]; do
  link="$(readlink -- "$self")"
  case "$link" in /*) self="$link" ;; *) self="$(dirname -- "$self")/$link" ;; esac
done
here="$(cd -P -- "$(dirname -- "$self")/.." && pwd -P)"
[ -f "$here/dist/cli/main.js" ] || { echo "not built yet: run scripts/start or npm run build first" >&2; exit 2; }
exec node "$here/dist/cli/main.js" debug "$@"
