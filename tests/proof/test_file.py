"""The file: the same bytes, an identity of the integers alone, and a loader that trusts nothing."""

import json
from concurrent.futures import ThreadPoolExecutor

import examples
import pytest

from alphalift import AlphaLift, Optimal, design
from alphalift.document import load, to_document, to_json, withhold_joint
from alphalift.errors import ProofError
from alphalift.geometry import concave
from alphalift.paper import random_joints
from alphalift.proof import checker


def identity(document):
    weights = checker.rows_of(document["weights"], dense=False)
    return checker.Integers(document["labels"], document["bits"], weights, document["unseen"]).identity


@pytest.mark.parametrize("name", ["random 3", "two secrets", "perfect", "16 bits"])
def test_the_same_bytes_twice(name):
    joint, region, bits = examples.PROBLEMS[name]
    again = to_json(to_document(design(joint, region, solver=examples.QUICK, bits=bits)))
    assert again == examples.text(name)
    assert to_json(json.loads(again)) == again


def test_threads_change_no_byte(monkeypatch):
    started = []

    class Counted(ThreadPoolExecutor):
        def __init__(self, workers):
            started.append(workers)
            super().__init__(workers)

    monkeypatch.setattr(concave, "ThreadPoolExecutor", Counted)
    joint = random_joints(1, 0, (6, 10))[0]
    files = [to_json(to_document(design(joint, AlphaLift(10, 0.02), solver=Optimal(threads=n)))) for n in (1, 2, 3)]
    assert {2, 3} <= set(started)
    assert len(set(files)) == 1


def test_the_identity_is_of_labels_bits_and_integers():
    document = examples.document("random 3")
    assert document["identity"] == identity(document)
    names, weights, law = document["labels"], document["weights"], document["unseen"]
    others = [
        document | {"labels": names | {"s": names["s"][::-1]}},
        document | {"labels": names | {"x": [*names["x"][:-1], "other"]}},
        document | {"labels": names | {"y": [*names["y"][:-1], "other"]}},
        document | {"bits": document["bits"] + 1},
        document | {"weights": weights[::-1]},
        document | {"unseen": law[::-1]},
        document | {"unseen": None},
    ]
    assert len({identity(other) for other in others} | {document["identity"]}) == len(others) + 1


def test_the_identity_does_not_depend_on_what_is_claimed():
    document = examples.document("random 3")
    hidden = document | {"joint": {"commitment": "sha256:" + "0" * 64}, "certificate": None}
    for other in (
        hidden,
        document | {"promise": {"region": "AlphaLift", "alpha": "2", "epsilon": "9"}, "certificate": None},
    ):
        verdict = checker.check(other)[0]
        assert verdict.proven
        assert document["identity"] in verdict.text


def test_load_returns_what_is_proven(tmp_path):
    path = tmp_path / "m.json"
    path.write_text(examples.text("random 3"), encoding="utf-8")
    stored, solution = load(path), examples.solved("random 3")
    assert stored.integers == solution.integers
    assert stored.region == solution.region
    assert stored.joint.weights == solution.joint.weights
    assert all(verdict.proven for verdict in stored.verdicts)


@pytest.mark.parametrize("part", ["identity", "promise", "utility", "optimum", "unseen"])
def test_load_refuses_what_is_not_proven(part, tmp_path):
    document = examples.document("random 3")
    if part == "identity":
        document["identity"] = "sha256:" + "0" * 64
    elif part == "promise":
        document["promise"]["epsilon"] = "0.0001"
    elif part == "unseen":
        document["unseen"] = [2 ** document["bits"], *[0] * (len(document["unseen"]) - 1)]
        document["identity"] = identity(document)
    else:
        name = {"utility": "utility_at_least", "optimum": "optimum_at_most"}[part]
        document["claims"][name] = {"utility": "9", "optimum": "0.001"}[part]
    path = tmp_path / "m.json"
    path.write_text(to_json(document), encoding="utf-8")
    with pytest.raises(ProofError, match=part if part != "identity" else "form"):
        load(path)


def test_load_needs_the_opening_of_a_withheld_joint(tmp_path):
    path, opening_path = tmp_path / "m.json", tmp_path / "opening.json"
    hidden, opening = withhold_joint(examples.document("random 3"), "0123456789abcdef" * 2)
    path.write_text(to_json(hidden), encoding="utf-8")
    opening_path.write_text(json.dumps(opening), encoding="utf-8")
    with pytest.raises(ProofError, match="withheld"):
        load(path)
    assert load(path, opening_path).region == AlphaLift(5, examples.PROBLEMS["random 3"][1].epsilon)
    opening_path.write_text(json.dumps(opening | {"salt": ""}), encoding="utf-8")
    with pytest.raises(ProofError, match="committed"):
        load(path, opening_path)
