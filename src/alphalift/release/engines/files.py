"""A folder of Parquet files released file by file, in parallel."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from pathlib import Path

from alphalift.errors import TableError
from alphalift.release.engines.base import Done
from alphalift.release.engines.here import Here
from alphalift.release.engines.twice import refuse_two_values
from alphalift.release.ids import rise_together
from alphalift.release.keys import KEY_BYTES
from alphalift.release.work import EmptyTableError, Seen, Work
from alphalift.tables import Source
from alphalift.whole import whole_file
from alphalift.workers import Crew, Workers


@dataclass(frozen=True)
class Files:
    """Gives every file of the folder to a worker.

    Workers read and write the files themselves: those of a cluster need both places on a disk that they share.
    """

    source: Source
    place: Path
    workers: Workers

    def release(self, work: Work, part: Path | None, *, check: bool) -> Done:
        """A file for every file of the folder that has rows, numbered in the order of their names.

        Numbered, because names of files and folders may be values of other columns.
        """
        parts, seen = self.source.parts, Seen.nothing(work)
        assert part is not None, "the files of a folder go to a new folder"
        folder = part.absolute()
        with Crew[int](self.workers, most=len(parts), usual=len(parts)) as crew:
            for number, source in enumerate(parts):
                # Without ids a record's number in its file stands for one; then every file has a key of its own.
                own = work if work.record_id is not None else replace(work, key=secrets.token_bytes(KEY_BYTES))
                crew.submit(number, _released, source, own, folder / f"part-{number:05d}.parquet")
            found: list[Seen] = [one for _, one in crew.results()]
        for one in found:
            seen.join(one)
        if not seen.rows:
            raise EmptyTableError.of(self.source.name)
        if check and not rise_together([one.order for one in found]):  # before anybody can see the output
            refuse_two_values(self.source, work, self.place)
        return Done(seen)


def _released(source: Source, work: Work, out: Path) -> Seen:
    """In a worker: one file. Its ids are compared later, with those of the others."""
    try:
        with whole_file(out) as part:
            seen = Here(source, out).release(work, part, check=False).seen
            assert seen is not None  # this process looks at every record
            return seen
    except EmptyTableError:
        return Seen.nothing(work)
    except TableError as error:
        named = str(error).startswith(source.name)
        raise TableError(str(error) if named else f"{source.name}: {error}") from None
