#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Builds the collection, installs the archive in an empty place, deletes all that a collection must be able to do without, and runs
# both drills from what is left, as those of a user who has the ansible-core first on PATH.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work="$here/../../.build/artifact"
rm -rf "$work"
mkdir -p "$work/archive" "$work/installed"
work=$(cd "$work" && pwd)
# What is installed is all that runs; only compiled once, where the suites keep that.
export PYTHONPATH="$here/code_cache"

# From a copy, so that what lies about in this checkout (environments, logs) cannot end up in the archive or slow it down.
cd "$("$here/copy_tree.sh" "$work/copy")"
ansible-galaxy collection build --output-path "$work/archive"
archive=("$work"/archive/maintenance-azure-*.tar.gz)
export ANSIBLE_COLLECTIONS_PATH="$work/installed"
ansible-galaxy collection install --offline --no-deps --collections-path "$work/installed" "${archive[0]}"
size=$(stat --format=%s "${archive[0]}")
echo "The archive has $size bytes."
[ "$size" -lt 20000000 ]
if tar --list --file="${archive[0]}" | grep -E '^(\.build|\.git|\.github|\.ci|tests/output)(/|$)'; then
    echo "That does not belong in the archive." >&2
    exit 1
fi

cd "$work/installed/ansible_collections/maintenance/azure"
for entry in * .[!.]*; do
    case "$entry" in
        meta | plugins | roles | playbooks | extensions | MANIFEST.json | FILES.json) ;;
        *) rm -rf "$entry" ;;
    esac
done
ls -A
"$here/drill_checked.sh"
"$here/drill_checked.sh" --spot
