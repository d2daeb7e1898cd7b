"""Both checkers prove every claim about every sort of problem."""

import examples
import pytest
import second_checker

from alphalift.proof import checker


@pytest.mark.parametrize("name", examples.PROBLEMS)
def test_both_checkers_prove_everything(name, tmp_path):
    path = tmp_path / "mechanism.json"
    path.write_text(examples.text(name), encoding="utf-8")
    first = {verdict.claim: verdict.proven for verdict in checker.check(checker.read(path))}
    second = second_checker.verdicts(second_checker.parse(path.read_bytes()))
    claims = ["form", "promise", "unseen values", "utility", "optimum"]
    if examples.document(name)["unseen"] is None:
        claims.remove("unseen values")
    assert first == second == dict.fromkeys(claims, True)


def test_the_sample_has_every_kind_of_certificate_and_law():
    documents = [examples.document(name) for name in examples.PROBLEMS]
    kinds = [document["certificate"] and document["certificate"]["kind"] for document in documents]
    trees = [document["certificate"]["tree"] for document, kind in zip(documents, kinds, strict=True) if kind == "tree"]
    assert set(kinds) == {None, "tree", "pairs", "local", "merged"}
    assert len(trees) > 15
    assert max(map(len, trees)) > 50
    assert sum(document["unseen"] is not None for document in documents) > 30
