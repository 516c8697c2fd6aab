#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The drill, or with --spot that of an eviction, and that a newcomer can read what it prints: at most 60 lines, the table of the VMs among them, and no
# warning.
set -euo pipefail

most=60
output=$(mktemp)
trap 'rm -f "$output"' EXIT
"$(dirname "$0")/drill.sh" "$@" 2>&1 | tee "$output"

lines=$(wc -l <"$output")
if [ "$lines" -gt "$most" ]; then
  echo "The drill printed $lines lines, more than $most." >&2
  exit 1
fi
if grep -iE 'WARNING|DEPRECAT' "$output"; then
  echo "The drill printed a warning." >&2
  exit 1
fi
if ! grep -q '^VM  *Noticed  *Drained  *Approved  *Hit  *Back  ' "$output"; then
  echo "The drill printed no table of the VMs." >&2
  exit 1
fi
