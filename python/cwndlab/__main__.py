"""Where the command begins, also as `python -m cwndlab`."""

import sys

from cwndlab.errors import INTERRUPTED
from cwndlab.system.interrupting import taking_sigterm_for_ctrl_c


def main() -> None:
    """Run the command line. Ctrl-C may come while it is still being loaded."""
    with taking_sigterm_for_ctrl_c():
        try:
            from cwndlab.cli import main as run

            run()
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
