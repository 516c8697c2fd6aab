# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How Sphinx builds the site (tests/tools/build_site.py). Nothing is fetched: what Ansible's own pages are called stands here."""

from __future__ import annotations

import typing as t

from docutils import nodes

project = "maintenance.azure"
project_copyright = "2026, The maintenance.azure authors"
extensions = ["myst_parser", "sphinx_antsibull_ext"]
pygments_style = "ansible"
html_theme = "furo"
html_copy_source = False
html_show_sphinx = False
myst_heading_anchors = 6
# antsibull's page of each kind of plugin, for collections that are several.
exclude_patterns = ["collections/*.rst", "collections/maintenance/index.rst"]

ANSIBLE = "https://docs.ansible.com/projects/ansible/latest"
ANSIBLE_PAGES = {
    "action_plugins": "plugins/action.html",
    "callback_plugins": "plugins/callback.html",
    "common_return_values": "reference_appendices/common_return_values.html",
    "list_of_collections": "collections/index.html",
    "ANSIBLE_STDOUT_CALLBACK": "reference_appendices/config.html#envvar-ANSIBLE_STDOUT_CALLBACK",
}
BUILTIN = "ansible_collections.ansible.builtin."


def ansible_page(_app: t.Any, _environment: t.Any, wanted: t.Any, shown: t.Any) -> nodes.reference | None:
    """Return a link to a page of Ansible itself. Sphinx refuses whatever else is not on the site."""
    name = wanted["reftarget"]
    page = ANSIBLE_PAGES.get(name)
    if page is None and name.startswith(BUILTIN):
        page = f"collections/ansible/builtin/{name.removeprefix(BUILTIN)}.html"
    return nodes.reference("", "", shown, internal=False, refuri=f"{ANSIBLE}/{page}") if page else None


def setup(app: t.Any) -> None:
    app.connect("missing-reference", ansible_page)
