"""Utilities for all packages: threads, progress, atomic files, checks of parameters.

Nothing here knows of models, rows or outputs.
"""
