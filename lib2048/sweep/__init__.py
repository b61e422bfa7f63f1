"""Many runs from one list, on the cores of a laptop or on a cluster, by Dask.

`read_list` turns a TOML file into jobs, `run_sweep` carries them out, each in a folder of its own.
"""

from lib2048.sweep.carrying_out import Outcome, Report, run_sweep
from lib2048.sweep.lists import KINDS, chosen, read_collect, read_list
from lib2048.sweep.training import TrainingJob

__all__ = ["KINDS", "Outcome", "Report", "TrainingJob", "chosen", "read_collect", "read_list",
           "run_sweep"]  # fmt: skip
