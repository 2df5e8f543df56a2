"""`python -m zermelo.uci [--weights FILE] [--set NAME=VALUE]...`"""

import sys

from zermelo.uci.start import main

if __name__ == "__main__":
    sys.exit(main())
