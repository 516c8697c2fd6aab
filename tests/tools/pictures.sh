#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Each docs/pictures/NAME.dot becomes NAME.svg, by graphviz. The digest of the source stands in it: versions of graphviz draw differently, so
# a unit test (tests/unit/docs/test_pictures.py) compares the digest, and not the drawing.
set -eu

cd "$(dirname "$0")/../../docs/pictures"
command -v dot > /dev/null || {
    echo "The command dot is missing; it comes with graphviz: apt-get install graphviz, or brew install graphviz." >&2
    exit 1
}
for source in *.dot; do
    digest=$(python3 -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())' < "$source")
    drawn=$(dot -Tsvg "$source")
    {
        sed '/<svg/,$d' <<< "$drawn"
        cat << COMMENT
<!--
Copyright (c) 2026, The maintenance.azure authors
GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later
Made by make pictures from $source, sha256 $digest
-->
COMMENT
        sed -n '/<svg/,$p' <<< "$drawn"
    } > "${source%.dot}.svg"
done
