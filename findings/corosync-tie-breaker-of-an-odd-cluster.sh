#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Corosync 3.1.7 (Debian 12, 3.1.7-1+deb12u2): auto_tie_breaker of a cluster with an odd number of nodes is switched off, unless wait_for_all is on.
# votequorum(5) of that package says nothing of it. The daemon starts all the same, and tells it once, in its log; corosync-quorumtool shows no flag then.
# So a cluster of three of which one node is lost, and that counts on the tie breaker for the next one, stops with it. With four nodes, or with wait_for_all,
# the same setting holds.
# Needs root (namespaces of its own, no network), apt-get and dpkg-deb. Everything is in a temporary folder.
set -euo pipefail

if [ "${1:-}" != inside ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$work/archives/partial"
    apt-get -o APT::Sandbox::User=root -o Dir::Cache::archives="$work/archives" -o Debug::NoLocking=1 -qq install --yes --download-only \
        --no-install-recommends --reinstall corosync=3.1.7-1+deb12u2 > /dev/null
    for package in "$work"/archives/*.deb; do dpkg-deb --extract "$package" "$work/root"; done
    if man=$(find "$work/root" -name votequorum.5.gz) && zcat "$man" | grep -qiE '\bodd\b'; then
        echo "changed: votequorum(5) speaks of an odd number of nodes"
        exit 1
    fi
    for case in "3::off" "4::on" "3:wait_for_all: 1:on"; do
        timeout 60 unshare --mount --net --pid --fork --mount-proc "$(realpath "$0")" inside "$work/root" "${case%%:*}" "$(cut -d: -f2- <<< "${case%:*}")" "${case##*:}"
    done
    exit 0
fi

root=$2 nodes=$3 more=$4 expected=$5
ip link set lo up
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/lib
mkdir /var/lib/corosync
{
    printf 'totem {\n  version: 2\n  cluster_name: odd\n  transport: udpu\n  secauth: off\n}\n'
    printf 'quorum {\n  provider: corosync_votequorum\n  auto_tie_breaker: 1\n  %s\n}\n' "$more"
    printf 'logging {\n  to_stderr: yes\n  to_syslog: no\n}\nnodelist {\n'
    for number in $(seq "$nodes"); do printf '  node {\n    ring0_addr: 127.0.0.%s\n    nodeid: %s\n    name: n%s\n  }\n' "$number" "$number" "$number"; done
    printf '}\n'
} > /run/corosync.conf
library=$(uname -m)-linux-gnu
export LD_LIBRARY_PATH="$root/usr/lib/$library:$root/lib/$library"
"$root/usr/sbin/corosync" -f -c /run/corosync.conf > /run/log 2>&1 &
daemon=$!
for _ in $(seq 100); do
    "$root/usr/sbin/corosync-quorumtool" -si > /run/status 2>&1 || true
    if grep -q '^Flags' /run/status; then break; fi
    sleep 0.1
done
flags=$(grep '^Flags' /run/status)
said=$(grep -o 'auto_tie_breaker has been disabled' /run/log || echo "nothing")
kill "$daemon"
printf '%s nodes, auto_tie_breaker: 1 %s\n  %s\n  log: %s\n' "$nodes" "$more" "$flags" "$said"
found=on
[[ "$flags" == *AutoTieBreaker* ]] || found=off
[ "$found" = "$expected" ] || { echo "changed: expected it to be $expected"; exit 1; }
