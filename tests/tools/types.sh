#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Types of everything under plugins, and of the plugins of Event-Driven Ansible. Through the collections tree, in which packages have their names.
# Then what the watcher loads on a Windows VM, once more with the functions that Python has on Windows.
set -eu

cd "$(dirname "$0")/../../.build/tree"
base=ansible_collections/maintenance/azure
MYPYPATH=. mypy --config-file "$base/.mypy.ini" --cache-dir ../mypy "$base/plugins" "$base/extensions/eda/plugins"

windows=()
while read -r pattern; do
  case $pattern in "" | "#"*) continue ;; esac
  for file in "$base/plugins/module_utils/_scheduled_events/"$pattern; do
    [ -e "$file" ] || { echo "types.sh: runs_on_windows.txt names $pattern, which does not exist" >&2; exit 1; }
    windows+=("$file")
  done
done < "$base/tests/tools/runs_on_windows.txt"
MYPYPATH=. mypy --config-file "$base/.mypy.ini" --cache-dir ../mypy-windows --platform win32 "${windows[@]}"
