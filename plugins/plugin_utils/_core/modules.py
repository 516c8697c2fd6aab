# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Which modules the controller has."""

from __future__ import annotations

from ansible.plugins.loader import module_loader


def is_installed(name: str) -> bool:
    """Return whether the controller has a module of this full name. Nothing is run."""
    # Without a suffix the loader finds modules in Python and in PowerShell alike.
    return bool(module_loader.find_plugin_with_context(name).resolved)


def how_to_install(name: str) -> str:
    """Return how an operator gets the collection of a module."""
    return f"To install it: ansible-galaxy collection install {name.rpartition('.')[0]}"
