"""`python -m lib2048` is the command `lib2048`."""

import sys

from lib2048.cli import main

sys.exit(main())
