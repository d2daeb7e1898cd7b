"""What the documentation shows is what the program does."""

import hashlib
import json
import re
import tomllib
from pathlib import Path

import jsonschema
import pytest

from alphalift import LDP, AlphaLift, Joint, MaxLift, Optimal, Robust, design, to_document, to_json, withhold_joint
from alphalift.joint import Origin
from alphalift.paper import random_joints
from alphalift.proof import checker

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "format.md").read_text(encoding="utf-8")
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


def test_the_identity_is_what_its_two_lines_compute():
    code = next(text for language, text in BLOCKS if language == "python" and "sha256" in text)
    example = json.loads(EXAMPLE)
    names = example["labels"] | {name: example[name] for name in ("bits", "weights", "unseen")}
    exec(compile(code, "format.md", "exec"), names | {"json": json, "hashlib": hashlib}, names)
    assert names["identity"] == example["identity"]


def test_the_certificate_with_a_tree_proves_what_the_page_says():
    """Whatever tree the search finds today; each split's words say where it is."""
    prices, duals, tree = re.split(
        r'"(?:duals|tree)":', next(text for _, text in BLOCKS if text.startswith('"prices"'))
    )
    joint = Joint([[2, 1, 1], [1, 2, 1], [1, 1, 2]], x_labels=["u", "v", "w"], counts=True)
    document = to_document(design(joint, AlphaLift(2, "0.05"), solver=Optimal(relative_gap=0.2)))
    shown = {"bits": 28, "prices": lists(prices)[0], "duals": lists(duals), "tree": lists(tree)}
    certificate = document["certificate"] | shown
    assert certificate.keys() == document["certificate"].keys()
    claims = document["claims"] | {"optimum_at_most": re.search(r"`optimum_at_most` = ([\d.]+)", PAGE)[1]}
    verdicts = checker.check(document | {"certificate": certificate, "claims": claims})
    assert all(verdict.proven for verdict in verdicts)
    nodes = {size: [node for node in certificate["tree"] if size(len(node))] for size in (is_leaf, is_split, is_trim)}
    said = [f"{'uvw'[symbol]} up to {place / 2**28:.6f}" for symbol, place in nodes[is_split]]
    assert said == re.findall(r"V_(.*),", tree)
    slabs = [zip(node[1::2], node[2::2], strict=True) for node in nodes[is_trim]]
    said = [f"{'uvw'[code // 2]} {'<>'[code % 2]}= {place / 2**28:.6f}" for slab in slabs for code, place in slab]
    assert said == re.findall(r"V_(. [<>]= [\d.]+)", tree)
    counts = [len(nodes[size]) for size in (is_split, is_trim, is_leaf)]
    assert "{} splits, {} trims and {} leaves".format(*counts) in PAGE


def is_leaf(size):
    return size == 1


def is_split(size):
    return size == 2


def is_trim(size):
    return size > 2


def lists(text):
    return [json.loads(found) for found in re.findall(r"\[.*?\]", text)]


def test_the_newest_version_in_the_changelog_is_the_packages():
    changelog = (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    newest = re.search(r"^## (?!Unreleased$)(.*)", changelog, re.MULTILINE)[1]
    assert re.fullmatch(re.escape(project["version"]) + r" \(\d{4}-\d\d-\d\d\)", newest)


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


@pytest.mark.parametrize("region", [MaxLift(0.1), LDP(0.2)])
def test_files_with_a_margin_follow_the_schema(region):
    solution = design(Joint([[300, 200, 100], [150, 270, 310]], counts=True), Robust(region))
    document = json.loads(to_json(to_document(solution)))
    jsonschema.validate(document, SCHEMA)
    jsonschema.validate(withhold_joint(document, "salt")[0], SCHEMA)
    claims = {name: claim for name, claim in document["claims"].items() if "margin" not in name}
    wrong = [{"claims": claims}, {"margin": None}, {"margin": document["margin"] | {"errors": 2}}, {"margin": {}}]
    for change in [*wrong, {"joint": {"commitment": document["identity"]}, "certificate": None}, {"utility": None}]:
        assert [verdict.claim for verdict in checker.check(document | change) if not verdict.proven] == ["form"]
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document | change, SCHEMA)


@pytest.mark.parametrize("region", [AlphaLift(3, 0.1), AlphaLift("inf", 0.1), AlphaLift(3, 0), AlphaLift(3, 9)])
def test_files_follow_the_schema(region):
    for joint in (random_joints(1, 1, (3, 5))[0], Joint([[3, 2, 1], [1, 2, 3]], counts=True)):
        document = to_document(design(joint, region))
        jsonschema.validate(json.loads(to_json(document)), SCHEMA)
        jsonschema.validate(withhold_joint(document, "salt")[0], SCHEMA)
        for key in SCHEMA["required"]:
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate({name: value for name, value in document.items() if name != key}, SCHEMA)


def test_no_line_of_a_page_is_a_quotation_or_a_list_by_chance():
    """A line of prose that begins with > or, after another line, with - or + is no prose on the page."""
    for path in DOCS.rglob("*.md"):
        text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        before = ""
        for line in text.splitlines():
            inside = before.strip() and not re.match(r" *([-+*]|\d+\.) |  |#", before)
            assert not line.startswith(">"), f"{path.name}: {line}"
            assert not (inside and re.match(r"[-+*] ", line)), f"{path.name}: {line}"
            before = line
