#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Runs shellcheck on every shell script of the repository.
set -eu

cd "$(dirname "$0")/../.."
mapfile -d '' -t scripts < <(git ls-files -z --cached --others --exclude-standard | xargs -0 grep -lZ -m1 -E '^#!(/usr/bin/env bash|/bin/bash|/bin/sh)' --)
echo "${#scripts[@]} scripts: ${scripts[*]}"
[ "${#scripts[@]}" -gt 0 ]
shellcheck "${scripts[@]}"
