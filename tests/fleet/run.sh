#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The lab: real guests behind a real load balancer, taken through maintenance. As root, on Debian or Ubuntu:
#   tests/fleet/run.sh [pytest arguments]
# FLEET_CACHE    where the guests' root is kept between runs (default .build/debian)
# FLEET_MIRROR   where the guests' packages come from (default: debootstrap's own)
# FLEET_PYTHON   a Python 3.12 or newer with ansible-core and pytest (default .build/venv/test/bin/python)
# FLEET_GUESTS   how many guests (default 6)
# FLEET_SECONDS  after how many seconds everything is torn down, whatever it does (default 2300)
# Everything lives in namespaces of processes, mounts and network that end with this script, and so do all guests, disks,
# interfaces and addresses in them. Outside there are only control groups and one empty folder, which this script removes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${FLEET_CACHE:-$root/.build/debian}
python=${FLEET_PYTHON:-$root/.build/venv/test/bin/python}
group="mazfleet-$$"
work="" inside_pid="" keeper_pid="" summary=""

say() { printf '%s\n' "fleet: $*"; }

# shellcheck disable=SC2329  # called by tear_down
group_folders() { find /sys/fs/cgroup -depth -type d -path "*/$group*" 2> /dev/null; }

# A frozen process of the first kind of control groups does not die before it is thawed.
# shellcheck disable=SC2329
thaw() {
  local folder
  while read -r folder; do
    [ -e "$folder/freezer.state" ] && echo THAWED > "$folder/freezer.state"
    [ -e "$folder/cgroup.freeze" ] && echo 0 > "$folder/cgroup.freeze"
  done < <(group_folders) 2> /dev/null
}

# shellcheck disable=SC2329
tear_down() {
  local code=$?
  trap - EXIT INT TERM HUP
  set +e
  [ -n "$keeper_pid" ] && kill "$keeper_pid" 2> /dev/null
  if [ -n "$inside_pid" ]; then
    kill -KILL "$inside_pid" 2> /dev/null
    thaw
    wait "$inside_pid" 2> /dev/null
  fi
  # The namespace's processes end a moment after their first one.
  for _ in $(seq 50); do
    thaw
    group_folders | xargs -r rmdir 2> /dev/null
    [ -z "$(group_folders)" ] && break
    sleep 0.2
  done
  [ -n "$(group_folders)" ] && say "control groups are left: $(group_folders | head -3)"
  [ -n "$work" ] && rm -rf "$work"
  [ -n "$summary" ] && printf '%s\n' "$summary"
  exit "$code"
}

[ "$(id -u)" -eq 0 ] || { say "needs root: it boots guests in namespaces of their own"; exit 2; }
[ -x "$python" ] || { say "no $python; run make test once, or set FLEET_PYTHON"; exit 2; }
# HAProxy comes from the guests' root as well, so that this machine needs no package of it, and starts no service of it.
"$root/tests/tools/debian_root.sh" "$cache" "${FLEET_MIRROR:-}"
trap tear_down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
work=$(mktemp -d "${TMPDIR:-/tmp}/fleet.XXXXXX")
# A memory disk of the lab's own hides $work inside; what is to be read afterwards goes to the logs.
logs=${FLEET_LOGS:-$root/.build/logs/fleet}
rm -rf "$logs"
mkdir -p "$logs"

main=$$
( trap 'kill "$nap"' TERM; sleep "${FLEET_SECONDS:-2300}" & nap=$!; wait "$nap" && kill -TERM "$main" ) > /dev/null 2>&1 &
keeper_pid=$!

# Also without make: ansible-playbook beside that Python, and the collection where make puts it.
export PATH="${python%/*}:$PATH" ANSIBLE_COLLECTIONS_PATH="${ANSIBLE_COLLECTIONS_PATH:-$root/.build/tree}"
code=0
FLEET_BASE="$cache/base" FLEET_WORK="$work" FLEET_CGROUP="$group" FLEET_LOGS="$logs" FLEET_PYTHON="$python" \
  unshare --mount --net --pid --uts --ipc --fork --kill-child=SIGKILL --propagation private \
  bash "$here/inside.sh" "$@" "$here" < /dev/null &
inside_pid=$!
wait "$inside_pid" || code=$?
inside_pid=""
# pytest's own last line; a test that was skipped was not passed. The tests print figures of their own.
closing=$(grep -E '(passed|failed|skipped|error).* in [0-9.]+s' "$logs/output" | tail -1 || true)
passed=$(grep -oE '[0-9]+ passed' <<< "$closing" | cut -d' ' -f1 || true)
failed=$(grep -oE '[0-9]+ (failed|error|skipped)' <<< "$closing" | awk '{sum += $1} END {print sum + 0}' || true)
[ "$code" -ne 0 ] && [ "${failed:-0}" = 0 ] && failed=1
summary="${passed:-0} passed, ${failed:-0} failed"
exit "$code"
