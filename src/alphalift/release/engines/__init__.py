"""Who draws a release: this process, processes for the files of a folder, or Spark; the answers are the same."""

from alphalift.release.engines.base import Done, Engine
from alphalift.release.engines.files import Files
from alphalift.release.engines.here import Here
from alphalift.release.engines.spark import Spark

__all__ = ["Done", "Engine", "Files", "Here", "Spark"]
