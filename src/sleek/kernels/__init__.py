"""The loops that touch every row, feature and unit."""
