"""What every room may need and none is about: threads, progress, atomic files, checks of parameters.

Nothing here knows of models, rows or outputs.
"""
