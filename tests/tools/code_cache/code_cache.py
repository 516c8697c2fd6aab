# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compiles each source once for all the processes of the tests, instead of once for each of them.

Python keeps no bytecode of what is imported from a zip file, which is what every Ansible module runs from, and ansible-core keeps
none of collections. Half of what a module costs is compiling the same 70 files again. With CODE_CACHE_FOLDER set, C(compile)
keeps the code under the source's hash. What runs is the same code; only tests use this.
"""

import __future__

import _frozen_importlib_external
import _imp
import builtins
import marshal
import os
import sys

# Less than this is compiled sooner than read.
WORTH_KEEPING = 500
FUTURE = 0
for name in __future__.all_feature_names:
    FUTURE |= getattr(__future__, name).compiler_flag
PYTHON = int.from_bytes(_frozen_importlib_external.MAGIC_NUMBER, "little")

compile_anew = builtins.compile


def use(folder):
    """Replace C(compile) for this process, unless it is a service that may not write there."""
    if not os.access(folder, os.W_OK):
        return

    def compile_or_load(source, filename, mode, flags=0, dont_inherit=False, optimize=-1, **more):
        if not dont_inherit:
            # From now on this function is the caller; what counts is who called it.
            flags |= sys._getframe(1).f_code.co_flags & FUTURE
        # Other flags ask for something else than code.
        if mode != "exec" or flags & ~FUTURE or more or not isinstance(source, (str, bytes)) or len(source) < WORTH_KEEPING:
            return compile_anew(source, filename, mode, flags, True, optimize, **more)
        content = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
        kind = "bytes" if isinstance(source, bytes) else "text"
        kept = os.path.join(folder, "%s-%d-%s-%x-%d" % (_imp.source_hash(PYTHON, content).hex(), len(content), kind, flags, optimize))
        try:
            with open(kept, "rb") as stored:
                code = marshal.loads(stored.read())
        except FileNotFoundError:
            code = compile_anew(source, filename, mode, flags, True, optimize)
            keep(kept, marshal.dumps(code))
            return code
        # The same source may lie somewhere else the next time; a traceback names where it lies now.
        _imp._fix_co_filename(code, os.fsdecode(filename))
        return code

    builtins.compile = compile_or_load


def keep(path, content):
    temporary = "%s.%d" % (path, os.getpid())
    with open(temporary, "wb") as stored:
        stored.write(content)
    os.replace(temporary, path)


def playbook_folder():
    """Return the folder for what all runs of ansible-playbook share; None in another program, and where nothing is kept."""
    folder = os.environ.get("CODE_CACHE_FOLDER")
    return folder if folder and os.path.basename(sys.argv[0]) == "ansible-playbook" and os.access(folder, os.W_OK) else None


def use_if_wanted():
    """Replace C(compile) if the environment names a folder."""
    folder = os.environ.get("CODE_CACHE_FOLDER")
    if folder:
        os.makedirs(folder, exist_ok=True)
        use(folder)
