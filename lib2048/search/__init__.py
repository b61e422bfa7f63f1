"""Search: looking ahead over any value function."""
