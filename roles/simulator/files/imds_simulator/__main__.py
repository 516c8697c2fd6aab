# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Entry point of ``python3 path/to/imds_simulator``."""

from __future__ import annotations

import os
import sys

# Python puts the package's own folder first on the path; replace it by its parent, or imports would find single modules.
_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.getcwd()) != _here]
sys.path.insert(0, os.path.dirname(_here))
# The package may lie in a folder that must stay as copied (check mode compares it).
sys.dont_write_bytecode = True

from imds_simulator.program.command_line import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
