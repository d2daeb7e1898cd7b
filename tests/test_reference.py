"""The reference has every public name, once, with an example that runs and prints what it shows."""

import doctest
import re
import sys
import warnings
from pathlib import Path

import pytest

import alphalift

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted((DOCS / "reference").glob("*.md"))
ENTRY = re.compile(r"^:::\{public\} (\w+)\n:::\n(```python\n>>> .*?```)?", re.MULTILINE | re.DOTALL)
ENTRIES = [match for page in PAGES for match in ENTRY.findall(page.read_text(encoding="utf-8"))]

sys.path.append(str(DOCS))
from docstrings import first_sentence, markdown  # noqa: E402


def test_every_public_name_is_there_once():
    here = [name for name, _ in ENTRIES]
    assert len(here) == len(set(here))
    assert set(here) >= set(alphalift.__all__)


@pytest.mark.parametrize("name", alphalift.__all__)
def test_every_public_name_says_what_it_is_and_has_an_example(name):
    assert first_sentence(getattr(alphalift, name)).endswith((".", ":", "`"))
    assert dict(ENTRIES)[name], f"{name} has no example in docs/reference"
    assert len("\n".join(markdown(name))) > 60


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_examples_print_what_they_show(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(
        "".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)), {}, page.name, None, 0
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the first release under this key")
        result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(examples)
    assert result.failed == 0, "see above"
