#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The first process of the namespaces, started by run.sh. What modules read of the machine is replaced, in memory: leases, the
# state of daemons, /etc/profile. This network namespace is Azure's platform; conftest.py makes the VM's beside it.
set -euo pipefail
mount -t proc proc /proc
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=755 tmpfs /var/lib
: > /run/profile
mount --bind /run/profile /etc/profile
mkdir -p "$DISCOVERY_WORK/home"
export HOME="$DISCOVERY_WORK/home"
ip link set lo up
"$DISCOVERY_PYTHON" -m pytest -q -p no:cacheprovider --basetemp="$DISCOVERY_WORK/pytest" "$@"
