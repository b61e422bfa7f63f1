"""The machine: how kernels are compiled and cached, memory, files, data; nothing of the game."""
