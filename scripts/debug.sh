#!/usr/bin/env bash
# The debug commands under the name of the design's source: scripts/debug.sh list-checkpoints --task=T, and so on.
set -euo pipefail
here="$(cd "$(dirname "$0")/.." && pwd)"
[ -f "$here/dist/cli/main.js" ] || { echo "not built yet: run scripts/start or npm run build first" >&2; exit 2; }
exec node "$here/dist/cli/main.js" debug "$@"
