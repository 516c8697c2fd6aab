# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Options of arguments.selection_arguments(), and what an event looks like."""


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  event_ids: {type: list, elements: str, description: "Only events with one of these ids, compared without case."}
  event_types:
    description:
      - Only events of one of these types, such as V(Freeze), V(Reboot), V(Redeploy), V(Preempt) or V(Terminate), compared without case.
      - Azure may add types. Without this option every type is returned.
    type: list
    elements: str
  event_statuses: {type: list, elements: str, description: "Only events in one of these states, V(Scheduled) or V(Started), compared without case."}
  event_sources:
    description:
      - Only events from one of these sources, V(Platform) or V(User), compared without case.
      - Versions before 2019-08-01 tell no source, and such events match no source.
    type: list
    elements: str
  resources: {type: list, elements: str, description: "Only events that name at least one of these VMs, compared without case."}
  affecting:
    description:
      - V(any) takes every event that the VM is told of. A VM is told of all events of its availability set or placement group.
      - V(this_vm) takes only events that name this VM.
    type: str
    default: any
    choices: [any, this_vm]
"""
