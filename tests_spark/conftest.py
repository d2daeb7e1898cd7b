"""One local cluster for all tests: two executors, each a process of its own with Python workers of its own."""

import os
import sys
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    # Moments are in UTC, whatever the session says.
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
}


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "ignore:PySpark does not yet fully support pandas:FutureWarning")


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """Spark's home, in which its workers and its event log write."""
    home = tmp_path_factory.mktemp("spark")
    for part in Path(pyspark.__file__).parent.iterdir():
        (home / part.name).symlink_to(part)
    return home


@pytest.fixture(scope="session")
def spark(home):
    os.environ |= {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    (home / "events").mkdir()
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.eventLog.dir", f"file:{home}/events")
    builder = builder.config("spark.sql.warehouse.dir", str(home / "warehouse"))
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
