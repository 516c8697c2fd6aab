#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# "ansible_test.sh sanity|units [OPTION...]" runs ansible-test on a copy of the checkout, with the ansible-core first on PATH.
set -eu

kind="$1"
shift
here=$(cd "$(dirname "$0")" && pwd)
core=$(python -c 'from ansible.release import __version__; print(__version__)')
# Two suites may have the same ansible-core at a time.
work="$here/../../.build/ansible-test/$kind-$core-$(printf '%s\n' "$@" | cksum | cut -d ' ' -f 1)"
mkdir -p "$work"
work=$(cd "$work" && pwd)
unset ANSIBLE_COLLECTIONS_PATH PYTHONPATH ANSIBLE_HOME PYTHONDONTWRITEBYTECODE

# ansible-test puts pip into its environments with a script that it downloads. Where only package indexes can be reached, that
# download fails. It looks for the script here first; this one installs the pip that Python itself carries.
cache="$HOME/.ansible/test/cache"
mkdir -p "$cache"
version=$(python - <<'PYTHON'
import pathlib
import re
import ansible_test
text = (pathlib.Path(ansible_test.__path__[0]) / "_internal" / "python_requirements.py").read_text()
print(re.search(r"pip='([0-9.]+)'", text).group(1))
PYTHON
)
script="$cache/get_pip_${version//./_}.py"
[ -s "$script" ] || printf 'import ensurepip\nensurepip.bootstrap(default_pip=True)\n' > "$script"

# Every Python of the machine, for the tests that compile and import the modules with each. Behind the environment's own.
others=""
for version in 3.8 3.9 3.10 3.11 3.12 3.13 3.14; do
    if found=$("$here/python.sh" "$version" 2> /dev/null); then
        others="$others:$(dirname "$found")"
    fi
done
environment=$(dirname "$(command -v ansible-test)")
PATH="$environment$others:$PATH"

cd "$("$here/copy_tree.sh" "$work")"
python=$(python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
case "$kind" in
    sanity) exec ansible-test sanity --local --color no "$@" ;;
    units) exec ansible-test units --venv --requirements --color no --python "$python" "$@" ;;
esac
echo "Not sanity and not units: $kind" >&2
exit 2
