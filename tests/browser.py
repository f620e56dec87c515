"""A headless Chromium for tests of pages: Debian's own, driven by playwright."""

import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def browser():
    """A browser that is closed afterwards; the test is skipped where there is none."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="the package playwright, which drives a browser, is not installed"
    )
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("there is no Chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield found
        finally:
            found.close()
