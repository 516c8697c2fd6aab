# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: win_uri
short_description: Stand-in for ansible.windows.win_uri
description: Real HTTP, sent from the controller; see README.md of this collection.
author: The maintenance.azure authors
"""

import json
import time
import urllib.parse

from ansible_collections.ansible.windows.plugins.module_utils import web
from ansible_collections.ansible.windows.plugins.module_utils.playing import begin, told

ARGUMENTS = {
    "url": {"type": "str", "required": True},
    "method": {"type": "str", "default": "GET", "aliases": ["url_method"]},
    "content_type": {"type": "str"},
    "body": {"type": "raw"},
    "headers": {"type": "dict"},
    "http_agent": {"type": "str", "default": "ansible-httpget"},
    "follow_redirects": {"type": "str", "choices": ["all", "none", "safe"], "default": "safe"},
    "maximum_redirection": {"type": "int", "default": 50},
    "return_content": {"type": "bool", "default": False},
    "status_code": {"type": "list", "elements": "int", "default": [200]},
    "timeout": {"type": "int", "default": 30, "aliases": ["url_timeout"]},
    "use_proxy": {"type": "bool", "default": True},
    "validate_certs": {"type": "bool", "default": True},
}
JSON_KINDS = ("text", "json", "javascript")


def body_bytes(body):
    if body is None:
        return None
    return (json.dumps(body, separators=(",", ":")) if isinstance(body, (dict, list)) else str(body)).encode("utf-8")


def ask(options, machine):
    """The last answer, redirects followed as they were asked to be."""
    method, url = options["method"].upper(), options["url"]
    headers = {"User-Agent": options["http_agent"], **(options["headers"] or {})}
    if options["content_type"] is not None:
        headers["Content-Type"] = options["content_type"]
    follows = options["follow_redirects"] == "all" or (options["follow_redirects"] == "safe" and method in ("GET", "HEAD"))
    proxy = machine.read("proxy", None) if options["use_proxy"] else None
    for _redirection in range(options["maximum_redirection"] + 1 if follows else 1):
        answer = web.exchange(url, method, headers, body_bytes(options["body"]), options["timeout"], options["validate_certs"], proxy)
        target = answer.headers.get("Location")
        if not (follows and target and 300 <= answer.status < 400):
            return answer
        url = urllib.parse.urljoin(url, target)
    raise web.NoAnswer("Too many automatic redirections were attempted.")


def facts_of(answer):
    """The keys that an answer adds: properties of HttpWebResponse first, every header after."""
    found = {
        "status_code": answer.status,
        "status_description": answer.reason,
        "msg": answer.reason,
        "content_length": int(answer.headers.get("Content-Length") or -1),
        "content_type": answer.headers.get("Content-Type") or "",
        "response_uri": answer.url,
        "method": answer.method,
    }
    found.update({web.snake_case(name): value for name, value in answer.headers.items()})
    return found


def main():
    module, machine = begin(ARGUMENTS)
    options = module.params
    result = {"changed": False, "elapsed": 0, "url": options["url"]}
    began = time.monotonic()
    with told(module, result):
        try:
            answer = ask(options, machine)
        except web.NoAnswer as error:
            # The real module has these two then, without a value.
            result.update(status_code=None, elapsed=time.monotonic() - began)
            module.fail_json(msg="Unhandled exception occurred when sending web request. Exception: %s" % error, **result)
        except web.HalfAnswer as error:
            # The status was noted before the body was read. That .NET raises here for every cut is a guess.
            result.update(facts_of(error.response), elapsed=time.monotonic() - began)
            del result["msg"]
            module.fail_json(msg="Unhandled exception occurred when sending web request. Exception: %s" % error, **result)
    result.update(facts_of(answer), elapsed=time.monotonic() - began)
    if options["return_content"]:
        result["content"] = answer.content.decode("utf-8", "replace")
        if any(kind in result["content_type"] for kind in JSON_KINDS):
            try:
                # Half a character, which JSON can name, is none in what PowerShell prints.
                text = json.dumps(json.loads(result["content"]), ensure_ascii=False)
                result["json"] = json.loads(text.encode("utf-8", "replace").decode("utf-8"))
            except (ValueError, RecursionError):
                pass
    if answer.status not in options["status_code"]:
        allowed = " ".join(str(code) for code in options["status_code"])
        del result["msg"]
        module.fail_json(msg="Status code of request '%d' is not in list of valid status codes %s : %s'." % (answer.status, allowed, answer.reason), **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
