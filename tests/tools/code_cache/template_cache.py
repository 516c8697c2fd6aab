# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compiles each template once for all the playbook runs of the tests, instead of once for each task of each host.

ansible-playbook renders a task's templates in a process forked for that task, so no process ever meets a template that it knows: a quarter of
what a task costs. With CODE_CACHE_FOLDER set, the code that Jinja makes of a template is kept under the hash of all that it is made of.
What runs is the same code; only tests use this.
"""

import glob
import hashlib
import marshal
import os
import sys

import code_cache

INTERNALS = "ansible._internal._templating._jinja_bits"
# What says how a template is read.
SYNTAX = (
    "block_start_string", "block_end_string", "variable_start_string", "variable_end_string", "comment_start_string", "comment_end_string",
    "line_statement_prefix", "line_comment_prefix", "trim_blocks", "lstrip_blocks", "newline_sequence", "keep_trailing_newline", "autoescape", "optimized",
)  # fmt: skip


def use_if_wanted():
    """Begin with what earlier runs have compiled, if this process is ansible-playbook."""
    if folder := code_cache.playbook_folder():
        try:
            from jinja2 import environment
        except ImportError:
            return
        use(os.path.join(folder, "templates-" + filters()), environment.Environment)


def use(folder, environment):
    """Replace Jinja's way from a template's text to code."""
    compile_anew = environment.compile
    os.makedirs(folder, exist_ok=True)

    def compile_or_load(self, source, *more, **named):
        # ansible-core before 2.19 has other internals, and a text that a template includes has a name.
        internals = sys.modules.get(INTERNALS)
        if internals is None or more or named or not isinstance(source, str) or not isinstance(self, internals.AnsibleEnvironment):
            return compile_anew(self, source, *more, **named)
        kept = os.path.join(folder, key(internals, self, source))
        if os.path.exists(kept):
            with open(kept, "rb") as stored:
                return marshal.loads(stored.read())
        # In no except clause: ansible-core prints what an error came with.
        code = compile_anew(self, source)
        code_cache.keep(kept, marshal.dumps(code))
        return code

    environment.compile = compile_or_load


def key(internals, environment, source):
    """Return a name for all that the code of a template is made of, beside the plugins."""
    context = internals._TemplateCompileContext.current(optional=True)
    said = [str(source), context and context.escape_backslashes, internals._TemplateConfig.allow_embedded_templates, sorted(environment.extensions)]
    said += [getattr(environment, name) for name in SYNTAX]
    return hashlib.sha256(repr(said).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def filters():
    """Return a hash of this Python, the way to ansible-core, and the filters and tests of the collections: their kind stands in the code."""
    paths = os.environ.get("ANSIBLE_COLLECTIONS_PATH", "")
    said = [sys.version, sys.prefix, paths, *(os.environ.get(name, "") for name in ("ANSIBLE_FILTER_PLUGINS", "ANSIBLE_TEST_PLUGINS", "ANSIBLE_CONFIG"))]
    for path in paths.split(os.pathsep):
        for kind in ("filter", "test"):
            for found in sorted(glob.glob(os.path.join(path, "ansible_collections", "*", "*", "plugins", kind, "*.py"))):
                said.append("%s %d" % (found, os.stat(found).st_mtime_ns))
    return hashlib.sha256("\n".join(said).encode("utf-8", "surrogateescape")).hexdigest()[:16]
