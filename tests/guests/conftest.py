# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the tests find what they share with others: after this folder, because the drain tests have a test_respond.py, too, and tests has a folder fleet."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[1:1] = [str(TESTS / "playbooks" / "drain"), str(TESTS)]
