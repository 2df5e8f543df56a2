"""For all tests."""

import hypothesis

# How long an example takes is the machine's affair; pytest-timeout ends what hangs.
hypothesis.settings.register_profile("zermelo", deadline=None)
hypothesis.settings.load_profile("zermelo")
