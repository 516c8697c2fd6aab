#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Prints the path of a Python: "python.sh" of 3.12 or newer, else of 3.11, "python.sh 3.9" of exactly that version.
# Looks on PATH and in pyenv's folder. Every candidate is started once: pyenv's shims exist for versions that are not there.
set -u

wanted="${1:-}"
versions=("$wanted")
[ -n "$wanted" ] || versions=(3.12 3.13 3.14 3.11)

says_version() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2> /dev/null
}

for version in "${versions[@]}"; do
    for candidate in "$(command -v "python$version" || true)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version"*/bin/python3 "$(command -v python3 || true)"; do
        [ -x "$candidate" ] || continue
        [ "$(says_version "$candidate")" = "$version" ] || continue
        # The real file. Not a shim, which asks the working directory which Python it should be, and not that of an environment,
        # which may be the one that is about to be built anew.
        "$candidate" -c 'import os, sys; print(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))'
        exit 0
    done
done

if [ -n "$wanted" ]; then
    echo "Python $wanted is missing: neither on PATH nor under ${PYENV_ROOT:-$HOME/.pyenv}/versions." >&2
else
    echo "Python 3.11 or newer is missing: neither on PATH (python3.11 to python3.14, python3) nor under" >&2
    echo "${PYENV_ROOT:-$HOME/.pyenv}/versions. Install it (Debian and Ubuntu: python3 and python3-venv), then run make again." >&2
fi
exit 1
