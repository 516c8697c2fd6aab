# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads ansible-core's file of moved plugins once for all the playbook runs of the tests, instead of once for each run.

It is YAML of 370 KB, a tenth of what the start of ansible-playbook costs. With CODE_CACHE_FOLDER set, what comes of such a file is kept under the
hash of its text. It is the same; only tests use this.
"""

import hashlib
import marshal
import os
import sys

import code_cache

# Less than this is read sooner than found.
WORTH_KEEPING = 10_000


def use_if_wanted():
    """Begin with what earlier runs have read, if this process is ansible-playbook."""
    if folder := code_cache.playbook_folder():
        try:
            from ansible.utils.collection_loader import _collection_finder
        except ImportError:
            return
        use(folder, _collection_finder)


def use(folder, finder):
    """Replace the finder's way from a collection's meta/runtime.yml to its content, which core has made replaceable."""
    read_anew = finder._meta_yml_to_dict

    def read_or_load(text, content_id):
        content = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        if len(content) < WORTH_KEEPING:
            return read_anew(text, content_id)
        kept = os.path.join(folder, "routing-%s-%s" % (sys.implementation.cache_tag, hashlib.sha256(content).hexdigest()[:32]))
        if os.path.exists(kept):
            with open(kept, "rb") as stored:
                return marshal.loads(stored.read())
        read = read_anew(text, content_id)
        code_cache.keep(kept, marshal.dumps(read))
        return read

    finder._meta_yml_to_dict = read_or_load
