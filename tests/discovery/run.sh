#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# endpoint: discover, for real: a DHCP server, a DHCP client and a firewall of Debian's, and the modules. As root, on Debian or Ubuntu:
#   tests/discovery/run.sh [pytest arguments]
# DISCOVERY_CACHE    where Debian's packages are kept, unpacked and not installed (default .build/discovery)
# DISCOVERY_PYTHON   a Python with ansible-core and pytest (default .build/venv/test/bin/python)
# DISCOVERY_SECONDS  after how many seconds everything is torn down, whatever it does (default 560)
# Everything lives in namespaces of processes, mounts and network that end with this script. No interface in them leads out.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${DISCOVERY_CACHE:-$root/.build/discovery}
python=${DISCOVERY_PYTHON:-$root/.build/venv/test/bin/python}
packages=(isc-dhcp-server isc-dhcp-client nftables libnftables1 libnftnl11 libxtables12 libjansson4 libmnl0)
work="" inside_pid="" summary=""

say() { printf '%s\n' "discovery: $*"; }

fetch() { (cd "$1" && apt-get -o APT::Sandbox::User=root download -qq "${packages[@]}" > apt.log 2>&1); }

unpack() {
  [ -e "$cache/.complete" ] && return
  say "unpacking Debian's ${packages[*]} in $cache (once)"
  rm -rf "$cache"
  mkdir -p "$cache/archives" "$root/.build"
  if ! fetch "$cache/archives"; then
    flock "$root/.build/apt.lock" apt-get update -qq
    fetch "$cache/archives" || { say "apt-get cannot download them:"; cat "$cache/archives/apt.log"; exit 2; }
  fi
  for package in "$cache"/archives/*.deb; do dpkg-deb --extract "$package" "$cache/root"; done
  touch "$cache/.complete"
}

# shellcheck disable=SC2329
tear_down() {
  local code=$?
  trap - EXIT INT TERM HUP
  set +e
  [ -n "$inside_pid" ] && { kill -KILL "$inside_pid"; wait "$inside_pid"; } 2> /dev/null
  [ -n "$work" ] && rm -rf "$work"
  [ -n "$summary" ] && printf '%s\n' "$summary"
  exit "$code"
}

[ "$(id -u)" -eq 0 ] || { say "needs root: it makes namespaces"; exit 2; }
[ -x "$python" ] || { say "no $python; run make test once, or set DISCOVERY_PYTHON"; exit 2; }
for tool in ip unshare setpriv apt-get dpkg-deb; do
  command -v "$tool" > /dev/null || { say "needs $tool"; exit 2; }
done
mkdir -p "$root/.build"
unpack
trap tear_down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
work=$(mktemp -d "${TMPDIR:-/tmp}/discovery.XXXXXX")

export PYENV_ROOT="${PYENV_ROOT:-$HOME/.pyenv}"
export PATH="${python%/*}:$PATH" ANSIBLE_COLLECTIONS_PATH="${ANSIBLE_COLLECTIONS_PATH:-$root/.build/tree}"
code=0
DISCOVERY_ROOT="$cache/root" DISCOVERY_WORK="$work" DISCOVERY_PYTHON="$python" \
  unshare --mount --net --pid --fork --kill-child=SIGKILL --propagation private \
  timeout -k 5 "${DISCOVERY_SECONDS:-560}" bash "$here/inside.sh" "$@" "$here" < /dev/null > "$work/output" 2>&1 &
inside_pid=$!
wait "$inside_pid" || code=$?
inside_pid=""
cat "$work/output"
# pytest's own last line; a test that was skipped was not passed.
closing=$(grep -E '(passed|failed|skipped|error).* in [0-9.]+s' "$work/output" | tail -1 || true)
passed=$(grep -oE '[0-9]+ passed' <<< "$closing" | cut -d' ' -f1 || true)
failed=$(grep -oE '[0-9]+ (failed|error|skipped)' <<< "$closing" | awk '{sum += $1} END {print sum + 0}' || true)
[ "$code" -ne 0 ] && [ "${failed:-0}" = 0 ] && failed=1
summary="${passed:-0} passed, ${failed:-0} failed"
exit "$code"
