#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# What of .github can be checked where it does not run. actionlint is not among it: its package on PyPI downloads the program from elsewhere.
set -eu

cd "$(dirname "$0")/../.."
zizmor --offline --strict-collection --persona pedantic .github
check-jsonschema --builtin-schema custom.github-workflows-require-timeout .github/workflows/*.yml
check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/drain_method.yml
