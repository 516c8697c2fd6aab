#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# A real guest with systemd, drained and recovered over ssh. As root, on Debian or Ubuntu:
#   tests/guests/run.sh [pytest arguments, with or without files]
# GUESTS_CACHE   where the guest's root is kept between runs (default .build/debian)
# GUESTS_MIRROR  where the guest's packages come from (default: debootstrap's own)
# GUESTS_PYTHON  a Python with ansible-core and pytest (default .build/venv/test/bin/python)
# The guest lives in a network namespace of its own, joined to a second one, where ansible runs, by a pair of interfaces.
# The machine's own namespace gets neither an interface nor an address.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${GUESTS_CACHE:-$root/.build/debian}
python=${GUESTS_PYTHON:-$root/.build/venv/test/bin/python}
lab="mazlab$$"
outside="$lab-out" inside="$lab-in"
work="" guest_pid="" keeper_pid=""

say() { printf '%s\n' "guests: $*"; }

# Exit code 133 says that the guest asked for a reboot: boot it again, as a hypervisor would.
boot_guest() {
  (
    trap 'kill -TERM "$child" 2> /dev/null' TERM
    code=133
    while [ "$code" -eq 133 ]; do
      systemd-nspawn --quiet --keep-unit --register=no --directory="$work/root" --boot --machine="$lab" --hostname=web1 \
        --network-namespace-path="/run/netns/$inside" --console=read-only < /dev/null >> "$work/console.log" 2>&1 &
      child=$!
      code=0
      wait "$child" || code=$?
    done
  ) &
  guest_pid=$!
}

prepare_guest() {
  mkdir -p "$work/root"
  cp -a "$cache/base/." "$work/root/"
  rm -f "$work/root/.complete"
  "$root/tests/tools/code_cache/into_guest.sh" "$work/root"
  ssh-keygen -q -t ed25519 -N '' -f "$work/key"
  install -d -m 0700 "$work/root/root/.ssh"
  install -m 0600 "$work/key.pub" "$work/root/root/.ssh/authorized_keys"
  cp -r "$here/units/." "$work/root/etc/systemd/system/"
  # The web server of the suite fleet, which has the same root.
  ln -s /dev/null "$work/root/etc/systemd/system/nginx.service"
  # Enabled: a reboot starts it again. occasional.service is not, and somebody has started it by hand.
  ln -s ../web.service "$work/root/etc/systemd/system/multi-user.target.wants/web.service"
  rm -f "$work/root/etc/resolv.conf" "$work/root/etc/machine-id"
  touch "$work/root/etc/machine-id"
}

wire() {
  ip netns add "$outside"
  ip netns add "$inside"
  ip -n "$outside" link set lo up
  ip -n "$inside" link set lo up
  ip -n "$outside" link add o0 type veth peer name i0 netns "$inside"
  ip -n "$outside" addr add 192.0.2.1/24 dev o0
  ip -n "$inside" addr add 192.0.2.2/24 dev i0
  ip -n "$outside" link set o0 up
  ip -n "$inside" link set i0 up
}

# Every process of the guest sits in its network namespace: whatever is left there is ours, and nothing else is.
# shellcheck disable=SC2329
end_guest() {
  local left
  for _ in 1 2 3 4 5; do
    left=$(ip netns pids "$inside" 2> /dev/null || true)
    [ -z "$left" ] && break
    # shellcheck disable=SC2086
    kill -KILL $left 2> /dev/null || true
    sleep 0.3
  done
  if [ -n "$guest_pid" ]; then
    kill -TERM "$guest_pid" 2> /dev/null || true
    for _ in $(seq 20); do kill -0 "$guest_pid" 2> /dev/null || break; sleep 0.2; done
    kill -KILL "$guest_pid" 2> /dev/null || true
    wait "$guest_pid" 2> /dev/null || true
  fi
}

# shellcheck disable=SC2329
tear_down() {
  local code=$?
  trap - EXIT INT TERM HUP
  set +e
  [ -n "$keeper_pid" ] && kill "$keeper_pid" 2> /dev/null
  end_guest
  ip netns del "$inside" 2> /dev/null
  ip netns del "$outside" 2> /dev/null
  [ "$code" -ne 0 ] && [ -n "$work" ] && [ -s "$work/console.log" ] && { say "the guest's last words:"; tail -n 15 "$work/console.log"; }
  [ "$code" -ne 0 ] && [ -s "$work/output" ] && grep -E '^(FAILED|ERROR) ' "$work/output"
  [ -n "$work" ] && rm -rf "$work"
  rm -rf "/run/systemd/nspawn/propagate/$lab" 2> /dev/null
  # systemd-nspawn leaves two empty groups behind when there is no systemd to own them. One in use is not removed.
  find /sys/fs/cgroup -mindepth 1 -depth -type d \( -path '*/payload*' -o -name supervisor \) -exec rmdir {} + 2> /dev/null
  [ -n "${summary:-}" ] && printf '%s\n' "$summary"
  exit "$code"
}

wait_for_ssh() {
  for _ in $(seq 60); do
    if ip netns exec "$outside" timeout 2 bash -c 'exec 3<>/dev/tcp/192.0.2.2/22 && head -c 4 <&3' 2> /dev/null | grep -q SSH; then return; fi
    sleep 0.5
  done
  say "the guest does not answer on port 22"
  return 1
}

[ "$(id -u)" -eq 0 ] || { say "needs root: it boots a guest"; exit 2; }
[ -x "$python" ] || { say "no $python; run make test once, or set GUESTS_PYTHON"; exit 2; }
"$root/tests/tools/debian_root.sh" "$cache" "${GUESTS_MIRROR:-}"
trap tear_down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
work=$(mktemp -d "${TMPDIR:-/tmp}/guests.XXXXXX")
prepare_guest
wire
boot_guest
# Whatever hangs: forty minutes, then everything is torn down.
main=$$
( trap 'kill "$nap"' TERM; sleep "${GUESTS_SECONDS:-2400}" & nap=$!; wait "$nap" && kill -TERM "$main" ) > /dev/null 2>&1 &
keeper_pid=$!
wait_for_ssh

# Also without make: ansible-playbook beside that Python.
export PATH="${python%/*}:$PATH"
code=0
# All tests, or those of the arguments that are files or tests in files.
tests=("$here")
for word; do [ -e "${word%%::*}" ] && tests=(); done
# Its own folder for ssh's shared connections: another guest in another namespace may have the same address.
mkdir "$work/cp"
GUEST_ADDRESS=192.0.2.2 GUEST_KEY="$work/key" ANSIBLE_SSH_CONTROL_PATH_DIR="$work/cp" \
  ip netns exec "$outside" timeout -k 5 2340 "$python" -m pytest -q -p no:cacheprovider "$@" "${tests[@]}" > "$work/output" 2>&1 || code=$?
cat "$work/output"
passed=$(grep -oE '[0-9]+ passed' "$work/output" | tail -1 | cut -d' ' -f1 || true)
failed=$(grep -oE '[0-9]+ (failed|error)' "$work/output" | tail -2 | awk '{sum += $1} END {print sum + 0}' || true)
[ "$code" -ne 0 ] && [ "${failed:-0}" = 0 ] && failed=1
summary="${passed:-0} passed, ${failed:-0} failed"
exit "$code"
