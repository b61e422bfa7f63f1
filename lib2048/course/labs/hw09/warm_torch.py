"""Imported in the process that checks, before the clock runs: torch, and what its first step loads.

The first step of an optimiser imports torch's compiler, which takes seconds.
"""

import torch

torch.set_num_threads(1)  # the networks of the checks are tiny
_weight = torch.nn.Parameter(torch.zeros(1))
_weight.sum().backward()
torch.optim.Adam([_weight]).step()
