"""Submitted players, weights or Python files, and who of them plays better."""
