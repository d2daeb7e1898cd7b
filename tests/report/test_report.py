"""A report says what words and checker say; the public one says nothing of the counts; no label is more than text."""

import math
import re
import secrets
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from alphalift import (
    PML,
    AlphaLift,
    Joint,
    MaxLift,
    OnAverage,
    ProofError,
    Robust,
    describe,
    design,
    read_joint,
    save,
    to_document,
    withhold_joint,
)
from alphalift.joint import Origin, Variable
from alphalift.proof import checker
from alphalift.proof.said import EVERYBODY, with_statement
from alphalift.release.outputs import Outputs
from alphalift.release.public import codebook
from alphalift.report import Filed, Shared, internal_report, public_report
from alphalift.sharing import for_sharing
from alphalift.show.text import up
from alphalift.solution import Status
from alphalift.utilities import Concave
from disclosure import CODEBOOK, WITHHELD, around, solved

TABLE = [[401, 12, 8], [10, 307, 20], [5, 9, 661]]
NAMES = ["ill", "cold", "well"], ["red", "green", "blue"]
ORIGIN = Origin(("health",), ("colour",))
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "--><svg onload=alert(1)> $x_2$ a\u202eb&amp;\x1b",
]
VOID = {"meta", "img", "br", "path", "use", "rect", "image", "circle"}
TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "nav",
        "main",
        "section",
        "footer",
        "h1",
        "h2",
        "p",
        "ol",
        "ul",
        "li",
    ),
    *(
        "a",
        "dl",
        "div",
        "dt",
        "dd",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "figure",
        "figcaption",
        "code",
    ),
    *("svg", "g", "path", "use", "defs", "clippath", "rect", "image", "circle"),
}


class Reader(HTMLParser):
    """Reads strictly: known tags, closed in order, nothing that acts or loads; keeps text, pictures' words, ids and links."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.tags, self.ids, self.links, self.alt = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []
        assert len(set(self.ids)) == len(self.ids)
        assert {link[1:] for link in self.links if not link.startswith("data:image/png;base64,")} <= set(self.ids)

    def handle_starttag(self, tag, attributes):
        assert tag in TAGS, tag
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            assert not name.startswith("on"), name
            if name in ("href", "src", "xlink:href"):
                assert value.startswith(("#", "data:image/png;base64,"))
                self.links.append(value)
            if name == "id":
                self.ids.append(value)
            if tag == "svg" and name == "aria-label":
                self.alt.append(value)
            if name == "style":
                assert "//" not in value
                assert re.sub(r"url\(#[\w-]+\)", "", value).count("url") == 0

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_comment(self, data):
        raise AssertionError("a comment, which may have a label")

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text.append(data)

    def said(self):
        return " ".join(" ".join(self.text).split())


def filed(solution, folder, *, withhold=False):
    """The solution as a file in the folder, read back."""
    document, opening = to_document(solution), None
    if withhold:
        document, content = withhold_joint(document, secrets.token_hex(32))
        opening = folder / "o.json"
        save(content, opening)
    save(document, folder / "m.json")
    return Filed.read(folder / "m.json", opening)


def one_line(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def solution():
    return design(Joint(TABLE, *NAMES, counts=True, origin=ORIGIN), AlphaLift(10, 0.1))


@pytest.fixture(scope="module")
def own(solution, tmp_path_factory):
    return filed(solution, tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def internal(own):
    return internal_report(own, file="m.json")


def test_words_are_those_of_describe(solution, own, internal):
    """All but the gap: that of the run is in floats, and that of the file is proven."""
    said = Reader(internal).said()
    claims = {name: Fraction(claim) for name, claim in own.document["claims"].items()}
    everything = solution.joint.p_x @ -np.log(solution.joint.p_x)
    gap = 100 * float(claims["optimum_at_most"] - claims["utility_at_least"]) / everything
    lines = describe(solution, secret="health", useful="colour").splitlines()
    assert len(lines) > 12
    for line in lines:
        if not line.startswith("Proven:"):  # which the checker says here, claim by claim
            proven = re.sub("(?<=gap is at most )[0-9.]+", f"{math.ceil(1000 * gap - 1e-6) / 1000:.3f}", line)
            assert one_line(proven.removeprefix("  - ")) in said, line


def test_verdicts_are_those_of_the_checker(own, internal):
    verdicts = checker.check(dict(own.document))
    assert {verdict.claim for verdict in verdicts} == {"form", "promise", "unseen values", "utility", "optimum"}
    said = Reader(internal).said()
    for verdict in verdicts:
        assert verdict.proven
        assert f"{verdict.claim} proven {one_line(verdict.text)}" in said
    assert "alphalift verify m.json proves" in said
    assert own.stored.integers.identity in said
    assert own.sha256 in said


def test_a_statement_about_the_population_is_told_as_one(solution, tmp_path):
    told = replace(solution, settings=with_statement(solution.settings, EVERYBODY))
    own = filed(told, tmp_path)
    for page in (internal_report(own, file="m.json", curve_seconds=0), public_report(Shared.of(own))):
        said = Reader(page).said()
        assert EVERYBODY in said
        assert "and people who are not in the table" in said


def test_the_page_has_landmarks_headings_and_words_for_pictures(internal):
    page = Reader(internal)
    for tag in ("header", "nav", "main", "footer", "h1", "title", "style"):
        assert page.tags.count(tag) == 1, tag
    assert page.tags.count("svg") == len(page.alt) == page.tags.count("figcaption") == 4
    assert all(len(alt) > 40 for alt in page.alt)
    assert "default-src 'none'" in internal
    assert "script-src" not in internal
    assert "<!--" not in internal
    assert "prefers-color-scheme:dark" in internal
    assert "@media print" in internal


def test_equal_files_give_equal_reports(own, internal):
    assert internal_report(own, file="m.json") == internal
    assert public_report(Shared.of(own)) == public_report(Shared.of(own))


def test_labels_are_text_and_nothing_else(tmp_path, internal, own):
    joint = Joint(TABLE, HOSTILE, HOSTILE, counts=True, origin=Origin((HOSTILE[0],), (HOSTILE[1],)))
    bad = filed(design(joint, AlphaLift(10, 0.1)), tmp_path)
    page = internal_report(bad, file=HOSTILE[0], date=HOSTILE[1])
    # Letters in pictures are outlines, each of which is defined once: other labels have others.
    drawn = {"path", "use", "g", "defs"}
    assert [tag for tag in Reader(page).tags if tag not in drawn] == [
        tag for tag in Reader(internal).tags if tag not in drawn
    ]
    public = public_report(Shared.of(bad))
    assert Reader(public).tags == Reader(public_report(Shared.of(own))).tags
    for text in (page, public):
        assert "<script" not in text
        assert "<img" not in text
        assert "onload=alert(1)>" not in text
        assert not set("\u202e\x1b") & set(text)
        assert "<script>alert(1)</script>" in Reader(text).said()
        assert "&amp;" in Reader(text).said(), "escaped once, and not twice or never"


# --- what the public report tells ---


@pytest.mark.parametrize("withhold", [False, True])
def test_tables_that_share_the_same_have_the_same_public_report(withhold, tmp_path):
    """The attack: tables near the truth whose shared mechanism, or codebook, is the same. Their internal reports differ."""
    table, view = [[14, 9, 3], [4, 10, 20]], WITHHELD if withhold else CODEBOOK
    bits = view.bits(60, 6)
    found = [table, *(one for one in around(view, table, designs=150) if not np.array_equal(one, table))][:6]
    assert len(found) >= 3
    public, inside = set(), set()
    for one in found:
        own = filed(solved(one, bits), tmp_path, withhold=withhold)
        public.add(public_report(Shared.of(own)))
        inside.add(internal_report(own, file="m.json", curve_seconds=0))
    assert len(public) == 1
    assert len(inside) == len(found)


def test_the_public_report_has_the_digits_of_the_codebook_and_no_others(solution, own):
    shared = Shared.of(own)
    integers = own.stored.integers
    outputs = Outputs.of(integers, Variable(("colour",), tuple(integers.labels["x"])))
    book = codebook(integers, outputs, name=None, counts=None, designed_from=own.stored.joint.total)
    told = [{shared.values[x]: float(share) for x, share in row} for row in shared.law]
    assert told == [output["p_y_given_x"] for output in book["outputs"]]
    assert list(shared.outputs) == [output["label"] for output in book["outputs"]]
    said = Reader(public_report(shared)).said()
    for private in (
        f"{solution.normalized_utility:.1%}",
        integers.identity,
        own.sha256,
        "nats",
        "1433",
        "gap",
        "ill",
        "P(s|y)",
    ):
        assert private not in said, private


def test_what_is_stated_with_numbers_of_the_records_is_not_repeated(tmp_path):
    joint = Joint(TABLE, *NAMES, counts=True, origin=ORIGIN)
    own = filed(design(joint, Robust(AlphaLift(10, 0.2), confidence=0.9)), tmp_path)
    assert "standard errors to spare" in Reader(internal_report(own, file="m.json", curve_seconds=0)).said()
    said = Reader(public_report(Shared.of(own))).said()
    assert "the promise was asked for with 90% confidence" in said
    for private in ("1433", "standard errors", "at most 0.", "is kept with"):
        assert private not in said


def test_a_withheld_file_says_what_opens_its_proof(solution, tmp_path):
    own = filed(for_sharing(solution), tmp_path, withhold=True)
    inside = Reader(internal_report(own, file="m.json", opening="o.json", curve_seconds=0)).said()
    assert "alphalift verify m.json --opening o.json" in inside
    said = Reader(public_report(Shared.of(own))).said()
    assert own.stored.integers.identity in said
    assert own.document["joint"]["commitment"] not in said
    whole = 2**own.stored.integers.bits
    for row, weights in zip(Shared.of(own).law, own.stored.integers.weights, strict=True):
        assert {x: float(share) for x, share in row} == pytest.approx(
            {x: w / whole for x, w in weights.items()}, rel=1e-3
        )


def test_public_limits_hold_for_every_table_with_such_a_group(own):
    """Lifts of four secrets, moved to the promise's boundary, of which two are the group: none is above, some come near."""
    said, rng = Reader(public_report(Shared.of(own))).said(), np.random.default_rng(0)
    for share in (0.01, 0.05, 0.1, 0.3):
        (told,) = re.findall(rf" {share:.0%} ([0-9.]+) times", said)
        parts = rng.dirichlet(np.ones(2), (2, 4000))
        prior = np.concatenate([share * parts[0], (1 - share) * parts[1]], axis=1)
        up = np.concatenate(
            [rng.uniform(0.99, 1, (4000, 2)), -share / (1 - share) * rng.uniform(0.99, 1, (4000, 2))], axis=1
        )
        up -= (up * prior).sum(axis=1, keepdims=True)
        low, high = np.zeros((4000, 1)), 1 / -up.min(axis=1, keepdims=True)
        for _ in range(60):
            middle = (low + high) / 2
            kept = (prior * (1 + middle * up) ** 10).sum(axis=1, keepdims=True) <= math.exp(0.1 * 10)
            low, high = np.where(kept, middle, low), np.where(kept, high, middle)
        found = ((1 + low * up) * prior)[:, :2].sum(axis=1) / share
        assert float(told) - 0.03 < found.max() <= float(told)


# --- other files ---


def test_a_forged_file_has_no_report(solution, tmp_path):
    document = to_document(solution)
    document["claims"] = document["claims"] | {"optimum_at_most": "0.001"}
    save(document, tmp_path / "m.json")
    with pytest.raises(ProofError, match="optimum"):
        Filed.read(tmp_path / "m.json")


def test_a_status_that_the_promise_does_not_allow_is_not_believed(solution, tmp_path):
    for stated in ("trivial", "unproven", "no such"):
        document = to_document(solution)
        document["provenance"] = document["provenance"] | {"status": stated}
        save(document, tmp_path / "m.json")
        assert Filed.read(tmp_path / "m.json").solution.status is Status.FEASIBLE
    trivial = design(solution.joint, MaxLift(5))
    assert filed(trivial, tmp_path).solution.status is Status.TRIVIAL


def test_promises_on_average_and_files_without_a_table_have_reports(tmp_path):
    joint = Joint(TABLE, *NAMES, counts=True)
    own = filed(design(joint, OnAverage(MaxLift(0.2))), tmp_path)
    for page in (internal_report(own, file="m.json"), public_report(Shared.of(own))):
        assert "Only on average" in Reader(page).said()
    assert "protecting the secret" in page


def test_a_large_design_has_a_report_of_sane_size(tmp_path):
    from alphalift.solvers import Optimal

    joint = Joint(np.random.default_rng(0).integers(1, 60, (10, 200)).tolist(), counts=True)
    own = filed(design(joint, MaxLift(0.3), solver=Optimal(time_limit=2)), tmp_path)
    page, public = internal_report(own, file="m.json", curve_seconds=0), public_report(Shared.of(own))
    Reader(page), Reader(public)
    assert len(page) < 4_000_000
    assert len(public) < 300_000


def by_hand(path, first, second):
    """Of every secret the most that the first release tells alone, and that both tell together: over all outputs that occur."""
    frame = pd.read_csv(path)
    for label in second.joint.s_labels:
        share, alone, both = (frame["health"] == label).mean(), 0.0, 0.0
        for one in first.mechanism.p_y_given_x:
            first_of = frame["colour"].map(dict(zip(first.joint.x_labels, one, strict=True)))
            alone = max(alone, first_of[frame["health"] == label].sum() / first_of.sum() / share)
            for two in second.mechanism.p_y_given_x:
                all_of = first_of * frame["shape"].map(dict(zip(second.joint.x_labels, two, strict=True)))
                if all_of.sum() > 0:
                    both = max(both, all_of[frame["health"] == label].sum() / all_of.sum() / share)
        yield label, up(alone, 2), up(both, 2)


def test_what_comes_after_others_says_of_which(tmp_path):
    from alphalift import columns_before

    rows = "id,health,colour,shape\n" + "".join(
        f"{i},{('ill', 'well')[i * i % 3 == 0]},{('red', 'blue')[i % 2]},{('round', 'flat')[i % 5 > 2]}\n"
        for i in range(200)
    )
    (tmp_path / "t.csv").write_text(rows)
    first = design(read_joint(tmp_path / "t.csv", sensitive="health", useful="colour"), MaxLift(0.2))
    joint = read_joint(tmp_path / "t.csv", sensitive="health", useful="shape", beside=columns_before([first]))
    second = design(joint, MaxLift(0.4), after=[first])
    own = filed(second, tmp_path)
    said = Reader(internal_report(own, file="m.json")).said()
    assert "It comes after 1 other release about the same people, of colour." in said
    for label, alone, both in by_hand(tmp_path / "t.csv", first, second):
        assert f"{label} {second.joint.p_s[second.joint.s_labels.index(label)]:.1%} {alone} × {both} ×" in said
    for line in describe(second, secret="health", useful="shape").splitlines():
        if not line.startswith(("Proven:", "The population")):
            assert one_line(line.removeprefix("  - ")) in said, line
    for withhold in (False, True):
        shared = filed(for_sharing(second) if withhold else second, tmp_path, withhold=withhold)
        assert "together with 1 release before it" in Reader(public_report(Shared.of(shared))).said()


def test_a_utility_that_no_file_states_is_not_claimed(tmp_path):
    variance = Concave("variance", lambda v: v @ [0.0, 1, 4] - (v @ [0.0, 1, 2]) ** 2)
    own = filed(design(Joint(TABLE, *NAMES, counts=True), MaxLift(0.2), utility=variance), tmp_path)
    assert own.solution.status is Status.UNPROVEN_UTILITY
    said = Reader(internal_report(own, file="m.json", curve_seconds=0)).said()
    assert "The file claims nothing about what the mechanism is worth" in said
    assert "3 of 3 claims" in said


def test_a_promise_about_x_is_said_to_be_one(tmp_path):
    solution = design(Joint(TABLE, *NAMES, counts=True, origin=ORIGIN), PML(0.3))
    own = filed(solution, tmp_path)
    inside, public = Reader(internal_report(own, file="m.json")).said(), Reader(public_report(Shared.of(own))).said()
    for line in describe(solution, secret="health", useful="colour").splitlines()[:6]:
        assert one_line(line.removeprefix("  - ")) in inside, line
    for said in (inside, public):
        assert "protecting colour itself" in said
        assert "health" not in said


@pytest.mark.filterwarnings("error")
def test_no_letter_of_a_label_is_told_to_a_terminal(tmp_path):
    """A font that lacks it would be a reason."""
    joint = Joint(TABLE, ["\u4e2d", "\u0628", "\u65e5"], ["\u672c", "x", "y"], counts=True)
    page = internal_report(filed(design(joint, MaxLift(0.2)), tmp_path), file="m.json", curve_seconds=0)
    assert "\u4e2d" in Reader(page).said()
