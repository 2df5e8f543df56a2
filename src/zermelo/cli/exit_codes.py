"""What the number that a command ends with says; 0 is done."""

from __future__ import annotations

NO = 1  # the answer is no: a check failed, a patient is ill
BAD_INPUT = 2  # a mistake of the person who asked, told in one sentence
FAULT = 70  # a fault of zermelo itself, told with a traceback
INTERRUPTED = 130  # by Ctrl-C
