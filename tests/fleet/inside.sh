#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The first process of the lab's namespaces, started by run.sh. When it ends, everything in them ends.
set -euo pipefail
mount -t proc proc /proc
# Names of network namespaces, what systemd-nspawn notes, all disks: in memory, seen by the lab only.
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=755 tmpfs "$FLEET_WORK"
mkdir -p "$FLEET_WORK/home" "$FLEET_WORK/tmp"
ip link set lo up
export HOME="$FLEET_WORK/home" TMPDIR="$FLEET_WORK/tmp"
: > "$FLEET_LOGS/output"
"$FLEET_PYTHON" -m pytest -q -s -p no:cacheprovider --basetemp="$FLEET_WORK/pytest" "$@" >> "$FLEET_LOGS/output" 2>&1 &
tests=$!
tail -n +1 -q --pid="$tests" -f "$FLEET_LOGS/output" &
shown=$!
code=0
wait "$tests" || code=$?
wait "$shown" || true
exit "$code"
