"""Figures that lessons open: recorded curves to compare."""
