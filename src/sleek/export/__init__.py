"""A fitted model as a program that needs no sleek: C, SQL, Python, JavaScript, ONNX.

See docs/guides/ship.md.
"""

from sleek.export.c import to_c
from sleek.export.converter import register_skl2onnx
from sleek.export.javascript import to_javascript
from sleek.export.onnx import to_onnx
from sleek.export.python import to_python
from sleek.export.sql import to_sql
from sleek.export.write import write

__all__ = ["register_skl2onnx", "to_c", "to_javascript", "to_onnx", "to_python", "to_sql", "write"]
