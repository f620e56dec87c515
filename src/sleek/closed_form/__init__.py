"""What is solved exactly: sums over rows, theta and b from them, and leave-one-out residuals.

Nothing here trains units or chooses settings.
"""
