#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# "environment.sh NAME [PYTHON VERSION]" makes the Python environment .build/venv/NAME from tests/requirements/NAME.txt, once:
# a stamp remembers what is in it. Two may ask for the same one at a time; the second waits. Prints its folder.
set -eu

cd "$(dirname "$0")/../.."
name="$1"
requirements="tests/requirements/$name.txt"
folder="$PWD/.build/venv/$name"
python=$(tests/tools/python.sh "${2:-}")
# The folder of the checkout is in the stamp, because an environment cannot be moved. So are the files that the requirements name with -r.
stamp="$python $PWD $(cd tests/requirements && sed -n 's/^-r //p' "$name.txt" | xargs cat "$name.txt" | cksum)"

mkdir -p .build/venv .build/logs .build/tree/ansible_collections/maintenance
ln -sfn ../../../.. .build/tree/ansible_collections/maintenance/azure

if command -v flock > /dev/null; then
    exec 9> ".build/venv/$name.lock"
    flock 9
fi

if [ "$(cat "$folder/.stamp" 2> /dev/null)" != "$stamp" ]; then
    for shared in .build .build/venv "$folder"; do
        if [ -L "$shared" ]; then
            echo "$shared is a link to environments of another checkout, whose programs would name this folder from then on." >&2
            echo "Next: remove the link, or run this in the other checkout." >&2
            exit 1
        fi
    done
    echo "Building $folder from $requirements (log: .build/logs/environment-$name.log)" >&2
    rm -rf "$folder"
    if ! { "$python" -m venv "$folder" && "$folder/bin/pip" install --disable-pip-version-check -r "$requirements"; } \
        > ".build/logs/environment-$name.log" 2>&1; then
        tail -n 15 ".build/logs/environment-$name.log" >&2
        echo "The environment could not be built. Needed: Python's venv and ensurepip modules (Debian and Ubuntu: package" >&2
        echo "python3-venv), and a package index that pip can reach." >&2
        exit 1
    fi
    echo "$stamp" > "$folder/.stamp"
fi
echo "$folder"
