# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build the site: what antsibull-docs makes of plugins and roles, and every page of the repository, in the folders where they are.

The pages are copied below .build, where links to this repository's files on the web become links between pages. Sphinx then fails for each link and
heading that is not there.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
import urllib.parse

import yaml

from ansible_collections.maintenance.azure.plugins.plugin_utils._report.page import page as report_page
from ansible_collections.maintenance.azure.plugins.plugin_utils._report.report import make, window
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._report import entries as histories

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build" / "site"
SOURCE = BUILD / "source"
OWN = SOURCE / "collections" / "maintenance" / "azure"
FOLDERS = ("docs/*.md", "docs/mechanisms/*.md", "docs/examples/**/*.md", "roles/*/README.md", "extensions/**/README.md", "*.md")
WEB = yaml.safe_load((ROOT / "galaxy.yml").read_text())["repository"]
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
INTERNAL = re.compile(r"^maintenance\.azure\.\w+ \w+ -- \(internal\) ", re.MULTILINE)
HREF = re.compile(r"""\s(?:href|src)=["']([^"'#?]+)[#?"']""")
# Reports of generated histories: the file, what the link says, and the history.
SAMPLES = (
    ("storm", "A storm on six VMs", histories.storm),
    ("month", "A month of 500 VMs, 4 MB", histories.month),
)
LICENSE_LINE = re.compile(r"^# (?:GNU General|Copyright|SPDX).*\n", re.MULTILINE)


def pages() -> list[pathlib.Path]:
    """Return every page that is published, from the folder of the repository."""
    return sorted({path.relative_to(ROOT) for pattern in FOLDERS for path in ROOT.glob(pattern)})


def moved(target: pathlib.PurePath, published: set[str]) -> str | None:
    """Return where a file of the repository is on the site, or None for one that is not."""
    name = target.as_posix()
    if name.startswith("docs/docsite/rst/"):
        return f"collections/maintenance/azure/docsite/{target.name}"
    if name in published:
        return name
    return None


def relinked(text: str, page: pathlib.Path, published: set[str]) -> str:
    """Return a page whose links lead to pages of the site, or, for other files of the repository, to the web."""

    def link(found: re.Match[str]) -> str:
        target, _mark, anchor = found[2].partition("#")
        for prefix in (f"{WEB}/blob/main/", f"{WEB}/raw/main/", f"{WEB}/tree/main/"):
            if target.startswith(prefix):
                file = pathlib.Path(target.removeprefix(prefix))
                break
        else:
            if not target or "://" in target or target.startswith("mailto:"):
                return found[0]
            file = pathlib.Path(os.path.normpath(page.parent / target))
        if not (ROOT / file).exists():
            raise SystemExit(f"{page}: {found[2]} is not there.")
        place = moved(file, published)
        suffix = f"#{anchor}" if anchor else ""
        where = f"/{place}" if place else f"{WEB}/{'tree' if (ROOT / file).is_dir() else 'blob'}/main/{file}"
        return f"{found[1]}{where}{suffix}{found[3]}"

    return LINK.sub(link, text)


def copy_pages() -> None:
    pictures = [path.relative_to(ROOT) for path in (ROOT / "docs" / "pictures").glob("*.svg")]
    published = {path.as_posix() for path in [*pages(), *pictures]}
    for path in pictures:
        (SOURCE / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, SOURCE / path)
    for path in pages():
        (SOURCE / path).parent.mkdir(parents=True, exist_ok=True)
        (SOURCE / path).write_text(relinked((ROOT / path).read_text(), path, published))


def playbook_page() -> str:
    """Return a page of the playbooks: what each says at its beginning, and its tasks."""
    parts = ["# Playbooks\n\nWhat each playbook says of itself, and its text. Each is started as `ansible-playbook -i inventory maintenance.azure.NAME`.\n"]
    for path in sorted((ROOT / "playbooks").glob("*.yml")):
        text = LICENSE_LINE.sub("", path.read_text()).removeprefix("---\n")
        head = re.match(r"(?:#.*\n)*", text)
        said = textwrap.dedent(re.sub(r"^#", "", head[0] if head else "", flags=re.MULTILINE))
        parts.append(f"## {path.stem}\n\n```text\n{said}```\n\n```yaml\n{text.removeprefix(head[0] if head else '')}```\n")
    return "\n".join(parts)


def samples_page() -> str:
    """Return the page that leads to the samples. No page of the sources is there for Sphinx to link to."""
    links = "\n".join(f'- <a href="samples/{name}.html">{title}</a>' for name, title, _history in SAMPLES)
    return (
        "# Samples of the report\n\nPages of the playbook `report`, as [History](/docs/history.md) describes them. The collection's own code has made them of "
        f"histories that were generated, not of real VMs.\n\n{links}\n"
    )


def write_samples(folder: pathlib.Path) -> None:
    folder.mkdir()
    for name, _title, history in SAMPLES:
        report = make(history(), window(None, None, "2026-03", histories.NOW), histories.NOW)
        (folder / f"{name}.html").write_text(report_page(report))


def dead_links(html: pathlib.Path) -> list[str]:
    """Return the links of the built pages to files that are not there, whoever made them: Sphinx looks at those alone that it makes."""
    found = set()
    for page in html.rglob("*.html"):
        for target in set(HREF.findall(page.read_text())):
            if not re.match(r"[a-z]+:|//", target) and not (page.parent / urllib.parse.unquote(target)).exists():
                found.add(f"{page.relative_to(html)}: {target} is not there")
    return sorted(found)


def internal_marked() -> int:
    """Say on the pages of internal plugins what that means; return how many there are."""
    internal = [path for path in OWN.glob("*_*.rst") if INTERNAL.search(path.read_text())]
    note = ".. important::\n\n   Internal: only the roles of this collection call it, and any release may change it.\n\n"
    for path in internal:
        path.write_text(path.read_text().replace(".. contents::", f"{note}.. contents::", 1))
    return len(internal)


def index() -> str:
    def entries(*patterns: str) -> str:
        names = [path.relative_to(SOURCE).with_suffix("") for pattern in patterns for path in sorted(SOURCE.glob(pattern))]
        return "\n".join(str(name) for name in names if name.name not in ("start", "words", "TESTING"))

    trees = {
        "Start": "README\ndocs/start\ncollections/maintenance/azure/docsite/rehearsal_guide\nplaybooks\nsamples",
        "Guides and reference": "\n".join(
            (entries("docs/*.md"), "docs/examples/drain-methods/README", "docs/examples/drain-test/README", "collections/maintenance/azure/index")
        ),
        "Roles": entries("roles/*/README.md"),
        "Execution environment": entries("extensions/**/README.md"),
        "Developers": "\n".join(("CONTRIBUTING", entries("docs/mechanisms/*.md"), "docs/TESTING", "docs/words", "CODE_OF_CONDUCT")),
        "Project": "CHANGELOG\nSECURITY",
    }
    parts = [f"```{{toctree}}\n:caption: {title}\n:maxdepth: 1\n\n{names}\n```\n" for title, names in trees.items()]
    beginning = (
        "# maintenance.azure\n\nTakes Azure VMs through scheduled maintenance. Operators [start here](/docs/start.md); "
        "developers read [Contributing](/CONTRIBUTING.md).\n"
    )
    return "\n".join((beginning, *parts))


def main() -> int:
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.rmtree(BUILD / "html", ignore_errors=True)
    SOURCE.mkdir(parents=True, mode=0o755)
    made = ["antsibull-docs", "collection", "--use-current", "--no-add-antsibull-docs-version", "--dest-dir", str(SOURCE), "maintenance.azure"]
    subprocess.run(made, check=True)
    copy_pages()
    count = internal_marked()
    (SOURCE / "playbooks.md").write_text(playbook_page())
    (SOURCE / "samples.md").write_text(samples_page())
    (SOURCE / "index.md").write_text(index())
    configuration = ROOT / "tests" / "tools" / "sphinx"
    code = subprocess.run(["sphinx-build", "-q", "-W", "--keep-going", "-b", "html", "-c", configuration, SOURCE, BUILD / "html"], check=False).returncode
    write_samples(BUILD / "html" / "samples")
    for line in (dead := dead_links(BUILD / "html")):
        print(line, file=sys.stderr)
    code = code or bool(dead)
    if code == 0:
        print(f"{len(list((BUILD / 'html').rglob('*.html')))} pages, {count} plugins marked internal: .build/site/html/index.html")
    return code


if __name__ == "__main__":
    sys.exit(main())
