"""Pages as a reader follows them: blocks run one after the other in one folder, and print what stands below them."""

import re
import shlex
from pathlib import Path

from alphalift.proof import checker
from test_cli_files import run

ROOT = Path(__file__).parent.parent
TARGETS = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def blocks(path):
    """Language and text of every block of code."""
    return re.findall(r"^```(\w+)\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


class Reader:
    """Follows pages in the current folder. A command that was run before, in a test's `done`, leaves the same files again."""

    def __init__(self, monkeypatch, capsys, done=None):
        self.names, self.told, self.done = {}, "", {} if done is None else done
        self._patch, self._capture = monkeypatch, capsys

    def follow(self, path, *, leaving="", tolerance=0):
        for language, text in blocks(path):
            if language == leaving:
                continue
            if language == "sh":
                self.told = "".join(self.type(line) for line in text.splitlines())
            elif language == "python":
                exec(compile(text, path.name, "exec"), self.names)
                self.told = self._capture.readouterr().out
            elif language == "text":
                assert in_order(text.split("...\n"), self.told, tolerance), (
                    f"{path.name} shows {text}, and what is said is {self.told}"
                )
            else:
                raise AssertionError(f"{path.name} has a block of {language}, which nobody runs")

    def type(self, line):
        """What a command prints; its comment may announce an exit code."""
        expected = int(found[1]) if (found := re.search(r"# exit code (\d)$", line)) else 0
        program, *arguments = shlex.split(line, comments=True)
        if program == "make":
            assert set(arguments) <= set(TARGETS)
            return ""
        if program == "source":
            assert arguments == [".venv/bin/activate"]
            return ""
        if program == "python":
            assert arguments.pop(0) == "src/alphalift/proof/checker.py"
            assert checker.main(arguments) == expected
            return self._capture.readouterr().out
        assert program == "alphalift"
        if line in self.done:
            told, files = self.done[line]
            for name, content in files.items():
                Path(name).write_bytes(content)
            return told
        before = set(Path().iterdir())
        code, told, complaint = run(self._patch, self._capture, *arguments)
        assert code == expected, f"{line}: exit code {code}, {complaint}"
        if arguments[0] == "design":
            self.done[line] = told, {path.name: path.read_bytes() for path in set(Path().iterdir()) - before}
        return told


def in_order(parts, text, tolerance):
    """Whether the lines of each part stand together in the text, the parts one after the other; each line may be cut off at its end."""
    place = 0
    lines = [line.strip() for line in text.splitlines()]
    for part in parts:
        wanted = [line.strip() for line in part.splitlines()]
        starts = (
            start
            for start in range(place, len(lines) - len(wanted) + 1)
            if all(begins(line, shown, tolerance) for line, shown in zip(lines[start:], wanted, strict=False))
        )
        if (found := next(starts, None)) is None:
            return False
        place = found + len(wanted)
    return True


def begins(line, shown, tolerance):
    """Whether a line begins as it is shown; decimals may differ by a share, where time limits decide on the last digits."""
    if not tolerance:
        return line.startswith(shown)
    said, wanted = (re.split(r"(\d+\.\d+)", text) for text in (line, shown))
    numbers = zip(said[1::2], wanted[1::2], strict=False)
    words = [*zip(said[::2], wanted[::2], strict=False)]
    return (
        len(said) >= len(wanted)
        and all(a == b for a, b in words[:-1])
        and words[-1][0].startswith(words[-1][1])
        and all(abs(float(a) - float(b)) <= tolerance * float(b) for a, b in numbers)
    )
