"""The proven program beside both Python checkers: on the files in samples/ and of older versions, and on these with a digit
changed.

What the program accepts, both must prove. What they prove in full, it must accept: samples are of the kinds that it knows.
benchmarks/verified.py does the same with many designs.
"""

import copy
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
PROGRAM = HERE / "build" / "alphalift-verified"
GOLDEN = HERE.parent / "tests" / "proof" / "golden"
sys.path.insert(0, str(HERE.parent / "tests" / "proof"))

import second_checker  # noqa: E402

from alphalift.proof import checker  # noqa: E402

CHANGES = 300  # unless the first argument says otherwise
THEOREMS = re.compile(r"^Theorem .*?(?=^Proof)", re.DOTALL | re.MULTILINE)
# What claims are about; a changed label or provenance is another file, and just as true.
CHANGED = ["promise", "claims", "bits", "unseen", "weights", "joint", "certificate"]


def places(value, path=()):
    """Where a value has numbers, or decimals."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, entry in items:
            yield from places(entry, (*path, key))
    elif type(value) is int or (isinstance(value, str) and value[:1].isdigit()):
        yield path


def with_a_digit_changed(document, rng):
    document = copy.deepcopy(document)
    key = rng.choice([key for key in CHANGED if document[key] is not None])
    *path, last = rng.choice(list(places({key: document[key]})))
    inner = document
    for step in path:
        inner = inner[step]
    text = str(inner[last])
    at = rng.choice([place for place, character in enumerate(text) if character.isdigit()])
    digit = rng.choice([own for own in "0123456789" if own != text[at]])
    changed = text[:at] + digit + text[at + 1 :]
    inner[last] = int(changed) if type(inner[last]) is int else changed
    document["identity"] = second_checker.identity(document)
    return document


def disagreement(document, path):
    """What is wrong with the program's answer, if anything; and the answer."""
    path.write_text(json.dumps(document), encoding="utf-8")
    accepts = subprocess.run([PROGRAM, path], stdout=subprocess.DEVNULL, check=False).returncode == 0
    first = all(verdict.proven for verdict in checker.check(checker.read(path)))
    second = all(second_checker.verdicts(document).values())
    if accepts and not (first and second):
        return "accepted, and a Python checker refuses it", accepts
    return ("refused, and both prove it" if first and second and not accepts else None), accepts


def verify_command(path, program):
    """The exit code of `alphalift verify FILE --with PROGRAM`."""
    command = [sys.executable, "-m", "alphalift", "verify", str(path), "--with", str(program)]
    return subprocess.run(command, capture_output=True, check=False).returncode


def main(changes):
    files = [*sorted((HERE / "samples").glob("*.json")), *sorted(GOLDEN.glob("version?.json"))]
    samples = {path: json.loads(path.read_text(encoding="utf-8")) for path in files}
    rng, answers, wrong = random.Random(0), Counter(), []
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "mechanism.json"
        for sample, document in samples.items():
            if subprocess.run([PROGRAM, sample], stdout=subprocess.DEVNULL, check=False).returncode:
                wrong.append(f"{sample.name} is refused")
            for _ in range(changes // len(samples)):
                complaint, accepts = disagreement(with_a_digit_changed(document, rng), path)
                answers["accepted" if accepts else "refused"] += 1
                wrong += [f"{sample.name}: {complaint}"] if complaint else []
        shown = (HERE.parent / "docs" / "verified.md").read_text()
        for theorem in THEOREMS.findall((HERE / "Main.v").read_text()):
            if theorem not in shown:
                wrong.append(f"docs/verified.md does not show what Main.v has: {theorem.splitlines()[0]}")
        good = files[0]
        if verify_command(good, PROGRAM) != 0 or verify_command(good, "/bin/false") != 1:
            wrong.append("alphalift verify --with does not pass on what the program says")
    print(f"{len(samples)} files accepted by all; with a digit changed {dict(answers)}, as both Python checkers say")
    for complaint in wrong:
        print(f"VIOLATION {complaint}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else CHANGES))
