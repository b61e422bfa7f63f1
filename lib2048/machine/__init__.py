"""The machine: how kernels are compiled and cached, memory, files; nothing of the game."""
