"""Figures that lessons open: recorded curves, networks and their rates, exact small boards."""
