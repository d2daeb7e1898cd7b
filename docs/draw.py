"""Draw the pictures of the documentation again: run the code of gallery.md, as a reader would."""

import os
import re
from pathlib import Path

HERE = Path(__file__).parent


def code(page: Path) -> str:
    """All Python of a page, its lines numbered as there."""
    text, out = page.read_text(encoding="utf-8"), []
    for block in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        start = text.count("\n", 0, block.start(1))
        out += [""] * (start - len(out)) + block[1].splitlines()
    return "\n".join(out)


if __name__ == "__main__":
    os.chdir(HERE)
    (HERE / "images").mkdir(exist_ok=True)
    exec(compile(code(HERE / "gallery.md"), "gallery.md", "exec"), {})
