"""`alphalift report` on disk, and what it says when it cannot."""

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from alphalift import AlphaLift, Joint, design, save, to_document, withhold_joint
from alphalift.release import new_key
from alphalift.sharing import for_sharing
from test_cli import TABLE
from test_cli_files import mode, run


@pytest.fixture
def alphalift(tmp_path, monkeypatch, capsys):
    (tmp_path / "table.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    old = os.umask(0o022)
    wish = ("design", "table.csv", "-s", "ill", "-u", "colour", "--alpha", 10, "--epsilon", 0.3, "--population")
    assert run(monkeypatch, capsys, *wish, "--out", "m.json")[0] == 0
    yield lambda *arguments: run(monkeypatch, capsys, *arguments)
    os.umask(old)


def test_a_report_of_a_release(alphalift, tmp_path):
    new_key(tmp_path / "k")
    assert alphalift("apply", "m.json", "table.csv", "--id", "who", "--key", "k", "--out", "r.csv")[0] == 0
    given = ("report", "m.json", "--released", "r.csv", "--date", "2026-05-31")
    code, told, complaint = alphalift(*given, "--out", "a.html")
    assert (code, complaint) == (0, "")
    assert "as private as the table" in told
    assert alphalift(*given, "--out", "b.html")[0] == 0
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert alphalift(*given, "--public", "--out", "p.html") == (0, "Written: p.html\n", "")
    assert (mode(tmp_path / "a.html"), mode(tmp_path / "p.html")) == (0o600, 0o644)
    page, public = ((tmp_path / name).read_text() for name in ("a.html", "p.html"))
    book = json.loads((tmp_path / "r.csv.codebook.json").read_text())
    manifest = json.loads((tmp_path / "r.csv.manifest.json").read_text())
    for text in (page, public):
        assert "2026-05-31" in text
        assert "20 released records" in text
        assert manifest["ids"] in text
        for output in book["outputs"]:
            label, rows = re.escape(output["label"]), output["rows"]
            assert re.search(f'<th scope="row">{label}</th><td class="number">{rows}</td>', text)
    assert "the mechanism&#x27;s P(y)" in page
    assert "the mechanism&#x27;s P(y)" not in public


def test_what_is_not_proven_has_no_report(alphalift, tmp_path):
    document = json.loads((tmp_path / "m.json").read_text())
    document["claims"]["optimum_at_most"] = "0.001"
    save(document, tmp_path / "bad.json")
    code, _, told = alphalift("report", "bad.json", "--out", "r.html")
    assert code == 1
    assert "bad.json is refused: optimum" in told
    assert not (tmp_path / "r.html").exists()


def test_a_withheld_file_needs_its_opening(alphalift, tmp_path):
    shared = for_sharing(design(Joint([[60, 30, 20], [20, 30, 90]], counts=True), AlphaLift(10, 0.2)))
    document, opening = withhold_joint(to_document(shared), "salt")
    save(document, tmp_path / "s.json")
    save(opening, tmp_path / "o.json")
    for version in ((), ("--public",)):
        assert "its opening is needed" in alphalift("report", "s.json", *version, "--out", "r.html")[2]
        assert alphalift("report", "s.json", "--opening", "o.json", *version, "--out", "r.html")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("m.json", "--out", "report.txt"), "expected a name that ends in .html"),
        (("m.json", "--out", "m.json"), "expected a name that ends in .html"),
        (("m.json", "--out", "nowhere/r.html"), "expected a file name in a folder that exists"),
        (("m.json", "--out", "folder.html"), "it is a folder"),
        (("m.json", "--out", "key.html"), "never written over"),
        (("m.html", "--out", "m.html"), "choose another name"),
        (("m.html", "--out", "same.html"), "choose another name"),
        (("none.json", "--out", "r.html"), "there is no such file"),
        (("table.csv", "--out", "r.html"), "is refused"),
        (("key.html", "--out", "r.html"), "is a key, not a mechanism"),
        (("m.json", "--opening", "m.json", "--out", "r.html"), "is a mechanism, not the opening"),
        (("m.json", "--released", "none.csv", "--out", "r.html"), "none.csv: there is no such file"),
        (("m.json", "--released", "table.csv", "--out", "r.html"), "released colour"),
        (("m.json", "--released", "empty.csv", "--out", "r.html"), "has no rows"),
        (("m.json", "--released", "other.csv", "--out", "r.html"), "outputs that the file does not know"),
        (("m.json", "--released", "lied.csv", "--out", "r.html"), "another number of rows"),
        (("m.json", "--released", "torn.csv", "--out", "r.html"), "is no manifest"),
        (("m.json", "--date", "yesterday", "--out", "r.html"), "expected a day like 2026-05-31"),
    ],
)
def test_wrong_input_is_one_line_and_changes_nothing(alphalift, tmp_path, arguments, said):
    new_key(tmp_path / "key.html")
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "m.html").write_bytes((tmp_path / "m.json").read_bytes())
    os.link(tmp_path / "m.html", tmp_path / "same.html")
    label = json.loads((tmp_path / "m.json").read_text())["labels"]["y"][0]
    (tmp_path / "empty.csv").write_text("released colour\n")
    (tmp_path / "other.csv").write_text("released colour\nno such secret label\n")
    for name, manifest in (("lied", '{"format": "alphalift-release", "rows": 7}'), ("torn", "{")):
        (tmp_path / f"{name}.csv").write_text(f"released colour\n{label}\n")
        (tmp_path / f"{name}.csv.manifest.json").write_text(manifest)
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    code, told, complaint = alphalift("report", *arguments)
    assert (code, told) == (1, "")
    assert said in complaint
    assert complaint.count("\n") == 1
    assert "no such secret label" not in complaint
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_the_commands_of_the_page_run(alphalift, tmp_path):
    page = (Path(__file__).parent.parent.parent / "docs" / "report.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    new_key(tmp_path / "k")
    assert alphalift("apply", "m.json", "table.csv", "--id", "who", "--key", "k", "--out", "released.csv")[0] == 0
    for line in block.splitlines():
        assert alphalift(*shlex.split(line)[1:])[0] == 0
    assert {path.name for path in tmp_path.glob("*.html")} == {"report.html", "public.html"}
