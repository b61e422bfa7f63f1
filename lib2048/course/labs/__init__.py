"""Homework: exercises that check themselves, and what graders need.

`check(name, function)` says *not attempted*, *passed n cases*, or shows the smallest failing case
with its likely cause; `hint(name, 1)` helps; `use(name, function)` falls back to the library's
version of what is not attempted.
"""

from lib2048.course.labs.checks import attempt, check, compiled, hint, require, start, use
from lib2048.course.labs.hw04 import museum, network_of
from lib2048.course.labs.hw04.diagnosis import autopsy, check_diagnosis, require_diagnosis
from lib2048.course.labs.hw04.performance import require_performance
from lib2048.course.labs.hw04.program import Step, Tables, at, new_tables, put, slide
from lib2048.course.labs.hw04.trace import trace
from lib2048.course.labs.hw04.training import Training
from lib2048.course.labs.messages import translate
from lib2048.course.labs.result import Checked, Failed
from lib2048.course.labs.seeds import variant

__all__ = [
    "Checked", "Failed", "Step", "Tables", "Training", "at", "attempt", "autopsy", "check",
    "check_diagnosis", "compiled", "hint", "museum", "network_of", "new_tables", "put",
    "require", "require_diagnosis", "require_performance", "slide", "start", "trace",
    "translate", "use", "variant",
]  # fmt: skip
