#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# antsibull-docs finds a collection only below a folder ansible_collections.
set -eu

cd "$(dirname "$0")/../../.build/tree/ansible_collections/maintenance/azure"
antsibull-docs lint-collection-docs --plugin-docs --skip-rstcheck --validate-collection-refs=all .
