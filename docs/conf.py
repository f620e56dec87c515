"""How the site is built: `make docs`, into build/site.

Pages are Markdown (MyST). The reference is made from docstrings, the gallery from the scripts in examples/,
which are run, and the live report of the front page by sleek itself.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import sleek  # noqa: E402
from studies.live import write_live_report  # noqa: E402

project = "sleek"
author = "The sleek developers"
copyright = "The sleek developers"
version = release = sleek.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["gallery/**/*.md5", "gallery/**/*.py", "gallery/**/*.json", "gallery/**/*.zip"]
nitpicky = True
smartquotes = False  # "auto" is typed as it stands
default_role = "code"  # docstrings write `names` as they are
pygments_style = "tango"

# -- the reference
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # docstrings say it
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# -- pages
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline", "attrs_block"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
suppress_warnings = ["config.cache"]

# -- the gallery
sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",  # all of them are run
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,
    "thumbnail_size": (400, 280),
}

# -- the look
html_theme = "pydata_sphinx_theme"
html_title = "sleek"
html_static_path = ["_static"]
html_extra_path = ["live"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "sleek"},
    "show_prev_next": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
html_sidebars = {"index": [], "glossary": [], "gallery/index": []}


def skip(app: Any, what: str, name: str, thing: Any, leave_out: bool, options: Any) -> bool | None:
    """Leave out of the reference what scikit-learn's base classes bring: it is documented there."""
    theirs = str(getattr(thing, "__module__", "")).startswith("sklearn")
    return True if theirs or (name.startswith("set_") and name.endswith("_request")) else None


def escape(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Let docstrings write |x - c| and (n_features_in_,) as they are: in reST both have a meaning."""
    for at, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")) and "``" not in line:
            lines[at] = line.replace("|", r"\|").replace("_,)", r"\_,)")


def setup(app: Any) -> None:
    """Write the front page's report, and say what the reference leaves out."""
    write_live_report(ROOT / "docs" / "live")
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", escape, priority=400)  # before numpydoc
