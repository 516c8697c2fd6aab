# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Packs each Ansible module once for all the playbook runs of the tests, instead of once for each run.

ansible-playbook packs a module with all that it imports the first time that it runs it, and keeps the package in a folder that ends with
the run: half a second for each module and run. With CODE_CACHE_FOLDER set, a run begins with the packages of earlier runs that had the same
sources, and adds its own. What is sent is the same; only tests use this.
"""

import glob
import hashlib
import os
import sys
import tempfile

import code_cache

PACKAGES = "ansiballz_cache"
# What a playbook may bring along itself has other names, and is not kept.
KEPT = ("ansible.modules.", "ansible_collections.")


def use_if_wanted():
    """Begin with what earlier runs have packed, if this process is ansible-playbook."""
    if folder := code_cache.playbook_folder():
        use(os.path.join(folder, "modules-" + sources()))


def use(folder):
    """Hand the packages in the folder to the run whose folder is made next, and keep those that it makes."""
    make, rename = tempfile.mkdtemp, os.rename

    def make_and_fill(suffix=None, prefix=None, dir=None):
        made = make(suffix, prefix, dir)
        if str(prefix).startswith("ansible-local-") and os.path.isdir(folder):
            own = os.path.join(made, PACKAGES)
            os.mkdir(own, 0o700)
            for name in filter(_is_whole, os.listdir(folder)):
                _take(os.path.join(folder, name), os.path.join(own, name))
        return made

    def rename_and_keep(source, target, **more):
        rename(source, target, **more)
        where, name = os.path.split(os.fspath(target))
        if os.path.basename(where) == PACKAGES and name.startswith(KEPT):
            os.makedirs(folder, exist_ok=True)
            # Whole and never changed any more, so that another run may have it, too.
            _take(target, os.path.join(folder, name))

    tempfile.mkdtemp, os.rename = make_and_fill, rename_and_keep


def _is_whole(name):
    return name.startswith(KEPT) and not name.rpartition(".")[2].isdigit()


def _take(source, target):
    """A hard link, or a copy where the run's folder is on another file system; nobody sees half of one."""
    try:
        os.link(source, target)
    except FileExistsError:
        return
    except OSError:
        temporary = "%s.%d" % (target, os.getpid())
        with open(source, "rb") as stored, open(temporary, "wb") as copy:
            copy.write(stored.read())
        os.replace(temporary, target)


def sources():
    """What the packages are made of, as a hash: this Python, the way to ansible-core, and the time and size of each file of the collections."""
    paths = os.environ.get("ANSIBLE_COLLECTIONS_PATH", "")
    said = [sys.version, sys.prefix, paths, *(os.environ.get(name, "") for name in ("ANSIBLE_LIBRARY", "ANSIBLE_MODULE_UTILS", "ANSIBLE_CONFIG"))]
    for path in paths.split(os.pathsep):
        for kind in ("modules", "module_utils"):
            for found in sorted(glob.glob(os.path.join(path, "ansible_collections", "*", "*", "plugins", kind, "**"), recursive=True)):
                state = os.stat(found)
                said.append("%s %d %d" % (found, state.st_mtime_ns, state.st_size))
    return hashlib.sha256("\n".join(said).encode("utf-8", "surrogateescape")).hexdigest()[:16]
