"""Homework: exercises that check themselves, and what graders need.

`check(name, function)` says *not attempted*, *passed n cases*, or shows the smallest failing case
with its likely cause; `hint(name, 1)` helps; `use(name, function)` falls back to the library's
version of what is not attempted.
"""

from lib2048.labs.checks import check, hint, require, start, use
from lib2048.labs.messages import translate
from lib2048.labs.result import Checked, Failed
from lib2048.labs.seeds import variant

__all__ = ["Checked", "Failed", "check", "hint", "require", "start", "translate", "use", "variant"]
