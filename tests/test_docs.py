"""What the documentation shows is what the program does."""

import json
import re
from pathlib import Path

import jsonschema
import pandas as pd
import pytest

from alphalift import AlphaLift, Joint, design, to_document, to_json, withhold_joint
from alphalift.joint import Origin
from alphalift.paper import random_joints
from alphalift.proof import checker
from alphalift.release import new_key

PAGE = (Path(__file__).parent.parent / "docs" / "format.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)
EXAMPLE = next(text for language, text in BLOCKS if language == "json" and "sick" in text)
SCHEMA = json.loads(next(text for language, text in BLOCKS if language == "json" and "$schema" in text))


def test_the_example_is_what_its_code_writes(capsys):
    code = next(text for language, text in BLOCKS if language == "python" and "sick" in text)
    exec(compile(code, "format.md", "exec"), {})
    assert capsys.readouterr().out == EXAMPLE


def test_the_checker_says_about_the_example_what_the_page_says(tmp_path, capsys):
    path = tmp_path / "example.json"
    path.write_text(EXAMPLE, encoding="utf-8")
    assert checker.main([str(path)]) == 0
    assert capsys.readouterr().out in [text for _, text in BLOCKS]


def test_a_file_after_another_follows_the_schema():
    joint = Joint([[3, 2, 1], [1, 2, 3]], counts=True, origin=Origin(("s",), ("x",), (("x", (-1.5, 2.0)),), ("x",)))
    first = design(joint, AlphaLift(3, 0.05))
    document = to_document(design(joint, AlphaLift(3, 0.2), after=[first]))
    assert document["after"]["mechanisms"][0]["identity"] == first.integers.identity
    assert document["table"]["bins"] == {"x": ["-1.5", "2"]}
    hidden, _ = withhold_joint(document, "salt")
    for good, other in ((document, hidden), (hidden, document)):
        jsonschema.validate(json.loads(to_json(good)), SCHEMA)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(good | {"after": other["after"]}, SCHEMA)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(good | {"table": good["table"] | {"useful": []}}, SCHEMA)


@pytest.mark.parametrize("region", [AlphaLift(3, 0.1), AlphaLift("inf", 0.1), AlphaLift(3, 0), AlphaLift(3, 9)])
def test_files_follow_the_schema(region):
    for joint in (random_joints(1, 1, (3, 5))[0], Joint([[3, 2, 1], [1, 2, 3]], counts=True)):
        document = to_document(design(joint, region))
        jsonschema.validate(json.loads(to_json(document)), SCHEMA)
        jsonschema.validate(withhold_joint(document, "salt")[0], SCHEMA)
        for key in SCHEMA["required"]:
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate({name: value for name, value in document.items() if name != key}, SCHEMA)


def test_the_transformer_of_the_readme_runs(tmp_path, monkeypatch):
    page = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    code = next(text for text in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "alphalift.learn" in text)
    monkeypatch.chdir(tmp_path)
    new_key(Path("k"))
    work, ill = ["cook", "clerk", "driver"] * 100, ["yes", "no", "no", "no"] * 75
    names = {"people": pd.DataFrame({"id": range(300), "occupation": work, "diagnosis": ill})}
    with pytest.warns(UserWarning, match="first release under this key"):
        exec(compile(code, "README.md", "exec"), names)
    assert len(names["released"]) == 300
