#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Builds the collection and imports the archive as Ansible Galaxy does, by its own importer. ansible-test runs in suites of its own, and so does ansible-lint:
# the importer would give it the same profile and settings, and ask it for less (without yaml and five other rules, and without tests/integration and tests/unit).
# The importer ends with 0 for what its linters find. So each line that is not one of its own steps is a failure here.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work="$here/../../.build/importer"
rm -rf "$work"
mkdir -p "$work"
work=$(cd "$work" && pwd)
unset PYTHONPATH ANSIBLE_COLLECTIONS_PATH

tree=$("$here/copy_tree.sh" "$work/copy")
ansible-galaxy collection build --output-path "$work" "$tree"
archives=("$work"/maintenance-azure-*.tar.gz)
cd "$work"
printf '[galaxy-importer]\nRUN_ANSIBLE_LINT = False\nRUN_ANSIBLE_TEST = False\n' > galaxy-importer.cfg
GALAXY_IMPORTER_CONFIG="$work/galaxy-importer.cfg" python -m galaxy_importer.main "${archives[0]}" > importer.log 2>&1 || {
    tail -n 30 importer.log
    exit 1
}
grep -qx 'Importer processing completed successfully' importer.log
steps='Importing with galaxy-importer|Getting doc strings via ansible-doc|Finding content inside collection'
steps="$steps|Collection loading complete|Importer processing completed successfully"
if grep -vE "^($steps|Loading (role|playbook|module|[a-z_]+) )" importer.log; then
    echo "The lines above are what the importer finds fault with." >&2
    exit 1
fi
loaded=$(grep -cE '^Loading (module|role|playbook) ' importer.log)
echo "Imported; $loaded modules, roles and playbooks were read, and nothing was found fault with."
[ "$loaded" -ge 30 ]
