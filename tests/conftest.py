"""For all tests."""

import os
import signal

import hypothesis

# How long an example takes is the machine's affair; pytest-timeout ends what hangs.
hypothesis.settings.register_profile("zermelo", deadline=None)
hypothesis.settings.load_profile("zermelo")

# Who starts the tests may ignore Ctrl-C, as scripts do for what they start in the background, and
# whatever a test starts inherits that. Tests of Ctrl-C need the handler that Python sets otherwise.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Processes of `pytest -n` share the cores; each with as many threads as there are cores is slower.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
