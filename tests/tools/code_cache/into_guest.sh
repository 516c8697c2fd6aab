#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# "into_guest.sh ROOT": a Debian guest whose root lies at ROOT compiles each source once, as everything else in the tests.
set -eu

packages="$1/usr/lib/python3/dist-packages"
cp "$(dirname "$0")/code_cache.py" "$packages/"
mkdir -p "$1/var/cache/code"
# Read at each start of Python; a sitecustomize there is Debian's own.
echo 'import code_cache; code_cache.use("/var/cache/code")' > "$packages/code_cache.pth"
