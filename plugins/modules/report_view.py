# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

DOCUMENTATION = r"""
module: report_view
short_description: (internal) Make a report of past maintenance, and write it to files
version_added: 2.5.0
author: [The maintenance.azure authors (@maintenance-azure)]
description: Internal, for playbook C(maintenance.azure.report). It runs on the controller. Without O(own) it checks the
  options, and returns the time and, for each VM that is asked, its share of an archive.
options:
  own: {type: str, default: "", description: The variable that each host has registered with M(maintenance.azure.maintenance_history).}
  archived: {type: str, default: "", description: The same of its share of the archive.}
  archive: {type: raw, default: "", description: See O(maintenance.azure.respond#role:history:report_archive_path).}
  limits: {type: raw, default: {}, description: See O(maintenance.azure.respond#role:history:report_archive_limits).}
  since: {type: raw, default: "", description: See O(maintenance.azure.respond#role:history:report_from).}
  until: {type: raw, default: "", description: See O(maintenance.azure.respond#role:history:report_until).}
  month: {type: raw, default: "", description: See O(maintenance.azure.respond#role:history:report_month).}
  event_id: {type: raw, default: "", description: See O(maintenance.azure.respond#role:history:report_event_id).}
  file: {type: raw, default: "", description: See O(maintenance.azure.respond#role:history:report_file).}
  min_answered: {type: raw, default: "", description: See O(maintenance.azure.respond#role:main:respond_min_answered).}
  allow_empty: {type: bool, default: false, description: See O(maintenance.azure.respond#role:main:respond_allow_empty).}
extends_documentation_fragment: [maintenance.azure.attributes]
attributes: {check_mode: {support: full}, diff_mode: {support: none}, idempotent: {support: none}}
"""

EXAMPLES = r"""
- name: Make the report
  maintenance.azure.report_view: {own: this_history, file: /srv/reports/today.html}
"""

RETURN = r"""
lines: {type: list, elements: str, returned: with O(own), description: The short form.}
report: {type: dict, returned: with O(own), description: "The report, as its JSON has it."}
fails: {type: str, returned: with O(own), description: "Why the run fails, or nothing."}
since: {type: str, returned: without O(own), description: The time of the report.}
until: {type: str, returned: without O(own), description: The end of the time of the report; empty where it has none but now.}
shares: {type: dict, returned: without O(own), description: The share of each host that is not left alone.}
"""
