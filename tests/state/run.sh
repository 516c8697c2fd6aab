#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The suite state: real servers that hold state, through whole events, under a writer. As root, on Debian:
#   tests/state/run.sh [PRODUCT ...] [-- pytest arguments]
# A product is a folder here with a file of Debian's packages, one a line, and tests. Without one named, all are run, some at a time.
# STATE_FULL=1   also the comparisons without a drain, and what is killed between two steps (minutes for each product)
# STATE_AT_ONCE  how many products at a time (default 3)
# STATE_SECONDS  after how many seconds a product is ended, whatever it does (default 900; 3600 with STATE_FULL)
# Each product has namespaces of processes, mounts, network, names and memory of its own. Its packages are unpacked over this machine's root, in memory: nothing
# is installed, no service of the machine is started, and everything ends with this script. What it prints: .build/logs/state/PRODUCT.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${STATE_PYTHON:-$root/.build/venv/test/bin/python}
seconds=${STATE_SECONDS:-$([ -n "${STATE_FULL:-}" ] && echo 3600 || echo 900)}
logs=$root/.build/logs/state

say() { printf '%s\n' "state: $*"; }

run_product() {
  local product=$1 log=$logs/$1 code=0 archives child=""
  shift
  : > "$log"
  archives=$("$python" "$root/tests/state/archives.py" "$product" 2>> "$log") || { tail -5 "$log"; say "$product: no packages"; return 1; }
  # Whoever ends this shell ends the namespaces, and all that is in them.
  trap 'kill "$child" 2> /dev/null' TERM
  timeout --kill-after=10 "$seconds" unshare --mount --net --pid --uts --ipc --fork --kill-child=SIGKILL --propagation private \
    bash "$here/inside.sh" "$root" "$python" "$archives" "$product" "$@" >> "$log" 2>&1 < /dev/null &
  child=$!
  wait "$child" || code=$?
  [ "$code" -eq 124 ] && echo "ended after $seconds s" >> "$log"
  return "$code"
}

# pytest's own last line; a test that was skipped was not passed.
count() {
  local closing passed failed
  closing=$(grep -E '(passed|failed|skipped|error).* in [0-9.]+s' "$logs/$1" | tail -n 1 || true)
  passed=$(grep -oE '[0-9]+ passed' <<< "$closing" | cut -d' ' -f1 || true)
  failed=$(grep -oE '[0-9]+ (failed|error|skipped)' <<< "$closing" | awk '{sum += $1} END {print sum + 0}' || true)
  [ "$2" -ne 0 ] && [ "${failed:-0}" = 0 ] && failed=1
  [ "${passed:-0}" = 0 ] && [ "${failed:-0}" = 0 ] && failed=1
  total_passed=$((total_passed + ${passed:-0}))
  total_failed=$((total_failed + ${failed:-0}))
  grep -E '^\.*state: ' "$logs/$1" | sed 's/^\.*//' || true
  [ "${failed:-0}" = 0 ] || { say "$1 failed:"; grep -vE '^\.*state: ' "$logs/$1" | tail -n 80; }
}

[ "$(id -u)" -eq 0 ] || { say "needs root: it makes namespaces"; exit 2; }
[ -x "$python" ] || { say "no $python; run make test once, or set STATE_PYTHON"; exit 2; }
products=()
while [ $# -gt 0 ]; do
  [ "$1" = -- ] && { shift; break; }
  products+=("$1")
  shift
done
[ ${#products[@]} -gt 0 ] || for folder in "$here"/*/packages; do products+=("$(basename "$(dirname "$folder")")"); done
for product in "${products[@]}"; do [ -e "$here/$product/packages" ] || { say "there is no product $product"; exit 2; }; done
mkdir -p "$logs"

declare -A running=()
declare -A codes=()
finish_one() {
  local ended code=0 product
  wait -n -p ended "${!running[@]}" || code=$?
  product=${running[$ended]}
  unset "running[$ended]"
  codes[$product]=$code
}
# shellcheck disable=SC2154  # one is set by the loop
trap 'for one in "${!running[@]}"; do kill "$one" 2> /dev/null || true; done; wait' EXIT
trap 'exit 143' INT TERM HUP
for product in "${products[@]}"; do
  [ ${#running[@]} -lt "${STATE_AT_ONCE:-3}" ] || finish_one
  run_product "$product" "$@" &
  running[$!]=$product
done
while [ ${#running[@]} -gt 0 ]; do finish_one; done
total_passed=0 total_failed=0
for product in "${products[@]}"; do count "$product" "${codes[$product]}"; done
printf '%s passed, %s failed\n' "$total_passed" "$total_failed"
[ "$total_failed" -eq 0 ]
