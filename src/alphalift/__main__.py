"""python -m alphalift."""

from alphalift.cli import main

main()
