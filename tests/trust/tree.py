# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which checkout of the collection is attacked: TRUST_TREE is an ANSIBLE_COLLECTIONS_PATH, and this checkout is the default."""

from __future__ import annotations

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OWN_TREE = ROOT / ".build" / "tree"
TREE = pathlib.Path(os.environ.get("TRUST_TREE") or OWN_TREE).resolve()
COLLECTION = TREE / "ansible_collections" / "maintenance" / "azure"
LIAR = pathlib.Path(__file__).with_name("liar.py")


def attack_in_process() -> None:
    """Import the collection from TREE alone: a file that it lacks must not be found in another checkout."""
    others = {str(OWN_TREE), str(OWN_TREE.resolve())} - {str(TREE)}
    sys.path[:] = [str(TREE)] + [place for place in sys.path if place not in others and place != str(TREE)]
