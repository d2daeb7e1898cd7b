"""python -m alphalift, and the command `alphalift`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it with one line and exit code 130, also while it is still being loaded."""
    try:
        from alphalift.cli import main as run

        run()
    except KeyboardInterrupt:
        print("alphalift: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
