"""A release read by its receiver: with the mechanism, with the public codebook, with wrong files."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from alphalift import AlphaLift, design, read_joint, save, to_document
from alphalift.cli import app
from alphalift.errors import InputError, TableError
from alphalift.release import Plan, new_key, release
from alphalift.release.received import estimate_release
from alphalift.tasks import readable_of


@pytest.fixture(scope="module", params=[("job",), ("job", "town")], ids=["one column", "two columns"])
def released(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("received")
    generator = np.random.default_rng(0)
    size = 4000
    secret = generator.integers(0, 3, size)
    job = (secret + generator.integers(0, 3, size)) % 4
    frame = pd.DataFrame(
        {
            "id": np.arange(size),
            "illness": np.array(["a", "b", "c"])[secret],
            "job": np.array(["cook", "clerk", "nurse", "smith"])[job],
            "town": np.array(["X", "Y"])[generator.integers(0, 2, size)],
        }
    )
    joint = read_joint(frame, sensitive="illness", useful=list(request.param))
    solution = design(joint, AlphaLift(3, 0.05))
    save(to_document(solution), folder / "m.json")
    with pytest.MonkeyPatch.context() as patch:  # the same draws at every run, since 1 interval in 20 may miss
        patch.setattr("alphalift.release.keys.secrets.token_bytes", lambda size: bytes(range(size)))
        key = new_key(folder / "k")
    plan = Plan(mechanism=solution, key=key, record_id="id")
    release(plan, frame, out=folder / "released.csv")
    return folder, frame, joint


def test_the_mechanism_and_the_codebook_tell_the_shares(released):
    """Within the intervals; of two columns, whose towns the outputs hardly tell apart, within ranges."""
    folder, frame, joint = released
    for file in ("m.json", "released.csv.codebook.json"):
        found = estimate_release(folder / "released.csv", readable_of(folder / file)).to_frame().set_index("value")
        truth = dict(zip(joint.x_labels, joint.p_x, strict=True))
        assert all(own.low <= truth[value] <= own.high for value, own in found.iterrows())
        assert all(found["told"]) == (len(truth) == frame["job"].nunique())
        assert found["share"].sum() == pytest.approx(1)
        assert len(found) == len(truth)


def test_the_command_prints_a_row_for_every_value(released):
    folder, _, joint = released
    runner = CliRunner()
    done = runner.invoke(app, ["estimate", str(folder / "released.csv"), str(folder / "m.json"), "--confidence", "90%"])
    assert done.exit_code == 0, done.output
    assert "4000 released records" in done.output
    assert ("hardly told by so few records: at least 90% sure" in done.output) == (len(joint.x_labels) > 4)
    assert "where one is missed, others often are" in done.output
    assert all(label in done.output for label in joint.x_labels)
    as_json = runner.invoke(app, ["estimate", str(folder / "released.csv"), str(folder / "m.json"), "--json"])
    assert len(json.loads(as_json.output)) == len(joint.x_labels)


def test_wrong_files_are_refused_in_words(released, tmp_path):
    folder, frame, _ = released
    (tmp_path / "no.json").write_text("{}")
    (tmp_path / "text.json").write_text("hello")
    (tmp_path / "book.json").write_text('{"format": "alphalift-codebook"}')
    with pytest.raises(InputError, match="expected a mechanism or a codebook"):
        estimate_release(folder / "released.csv", readable_of(tmp_path / "text.json"))
    with pytest.raises(InputError, match="no codebook"):
        estimate_release(folder / "released.csv", readable_of(tmp_path / "book.json"))
    other = pd.read_csv(folder / "released.csv")
    other = other.astype({other.columns[-1]: object})
    other.iloc[0, -1] = 99
    other = other.astype({other.columns[-1]: str})
    with pytest.raises(TableError, match="1 outputs that the file does not know"):
        estimate_release(other, readable_of(folder / "m.json"))
    with pytest.raises(TableError):
        estimate_release(frame, readable_of(folder / "m.json"))
