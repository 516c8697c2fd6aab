#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# "copy_tree.sh ROOT" copies the checkout to ROOT/ansible_collections/maintenance/azure as a git repository of its own, which is
# what ansible-test insists on. Only what git knows or would take is copied. Prints the collection's new folder.
set -eu

target="$1/ansible_collections/maintenance/azure"
cd "$(dirname "$0")/../.."
rm -rf "$target"
mkdir -p "$target"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    # A file that was deleted and not committed yet is still listed.
    [ -e "$file" ] && printf '%s\0' "$file"
done | tar --null --files-from=- --create --file=- | tar --extract --file=- --directory="$target"
cd "$target"
git init --quiet --initial-branch=main
git add --all
git -c user.name=test -c user.email=test@invalid -c commit.gpgsign=false commit --quiet --message="A copy for ansible-test"
echo "$target"
