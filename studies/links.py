"""Links of a built site that lead nowhere: files that are not there, places that no page has.

python -m studies.links build/site     # ends with 1 if there are any
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places in it that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            elif value and name in ("id", "name"):
                self.places.add(value)


@cache
def page_of(path: Path) -> Page:
    """A page, read once."""
    return Page(path.read_text("utf-8"))


def dead_links(folder: Path) -> list[str]:
    """Every local link of the pages in a folder that leads nowhere, as "page: link"."""
    found = []
    for path in sorted(folder.rglob("*.html")):
        if "_static" in path.parts:  # a theme's templates
            continue
        for link in page_of(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            to = to / "index.html" if to.is_dir() else to
            missing = not to.exists()
            if not missing and parts.fragment and to.suffix == ".html":
                missing = unquote(parts.fragment) not in page_of(to).places
            if missing:
                found.append(f"{path.relative_to(folder)}: {link}")
    return found


def main(folder: Path) -> None:
    """Print dead links, and end with 1 if there are any."""
    dead = dead_links(folder)
    print("\n".join(dead) or f"{len(list(folder.rglob('*.html')))} pages, no dead link")
    sys.exit(bool(dead))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
