"""What docs/howto/spark.md shows runs."""

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "howto" / "spark.md"


def test_the_page_runs(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = [(n, ["ill", "well"][n % 2], ["clerk", "cook", "driver"][n % 3]) for n in range(300)]
    names = {"frame": spark.createDataFrame(people, "id long, diagnosis string, occupation string")}
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, "spark.md", "exec"), names)
    released = names["released"]
    assert released.columns == ["id", "released occupation"]
    assert released.count() == 300
