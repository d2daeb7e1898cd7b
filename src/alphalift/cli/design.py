"""`alphalift design`: from a table to a mechanism with its proof."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from alphalift.cli.options import (
    Alpha,
    Alphabet,
    Anyway,
    AtMost,
    Bins,
    DropMissing,
    Epsilon,
    Promise,
    Sensitive,
    Table,
    TimeLimit,
    Useful,
    UtilityText,
)
from alphalift.errors import InputError
from alphalift.whole import require_outside

# The share of a time limit that is kept for a file, whose bound is proven once more.
_FILE_SHARE = 0.3
# And that for advice, whose designs come after a robust one; what that one leaves goes to them as well.
_ADVICE_SHARE = 0.4


def design_command(
    table: Table,
    sensitive: Sensitive,
    useful: Useful,
    alpha: Alpha = None,
    epsilon: Epsilon = None,
    promise: Promise = None,
    at_most: AtMost = None,
    utility: UtilityText = None,
    out: Annotated[Path | None, typer.Option(help="Write the mechanism to this JSON file.")] = None,
    pictures: Annotated[
        Path | None,
        typer.Option(
            help="Draw the mechanism, its lifts against the promise and what is kept into this folder, as PNG and PDF."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the mechanism as JSON instead of words.")] = False,
    drop_missing: DropMissing = False,
    bins: Bins = None,
    alphabet: Alphabet = None,
    time_limit: TimeLimit = 60.0,
    anyway: Anyway = False,
    confidence: Annotated[
        str | None,
        typer.Option(
            help="The table is a random sample: keep the promise for the people behind it, with this confidence; 95% unless told."
        ),
    ] = None,
    population: Annotated[
        bool, typer.Option("--population", help="The table is everybody: keep the promise for its records alone.")
    ] = False,
    after: Annotated[
        list[Path] | None,
        typer.Option(
            help="A mechanism that has released a column of these people before; repeat for several. The promise is then about all of them together."
        ),
    ] = None,
    openings: Annotated[
        list[Path] | None,
        typer.Option("--opening", help="What opens a mechanism given with --after that withholds its counts."),
    ] = None,
    withhold: Annotated[
        Path | None,
        typer.Option(
            help="Leave the counts out of the mechanism, behind a commitment, and make its weights coarse, so that it can be shared; what opens it goes to this file."
        ),
    ] = None,
    no_advice: Annotated[
        bool,
        typer.Option(
            "--no-advice", help="Do not design for other wishes, in the time that is left, to say what would keep more."
        ),
    ] = False,
    bits: Annotated[
        int | None,
        typer.Option(min=1, max=52, help="Probabilities are multiples of 1/2^bits: 52, or few with --withhold."),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            help="Instead of epsilon the share of X to keep, '90%': the least epsilon for it is found, with --population."
        ),
    ] = None,
) -> None:
    """Design a mechanism for one table, secret, useful column and promise, with its proof."""
    import secrets
    from dataclasses import replace

    from alphalift.clock import Clock
    from alphalift.design import design
    from alphalift.document import save, to_json, withhold_joint
    from alphalift.given import (
        Declared,
        Wish,
        alphabet_files,
        check_folder,
        check_output,
        confidence_of,
        document_of,
        least_epsilon,
        open_mechanism,
        read_alphabet,
        read_bins,
        region_of,
        utility_of,
    )
    from alphalift.population import Robust, advise, restated
    from alphalift.proof.prove import prove
    from alphalift.sharing import for_sharing
    from alphalift.show.advice import advice_lines
    from alphalift.show.live import LiveLine
    from alphalift.show.pictures import save_pictures
    from alphalift.show.words import describe, gained_words, wanted_words, what_a_file_proves, what_it_may_take
    from alphalift.solution import Status
    from alphalift.solvers import Optimal

    if population and confidence is not None:
        raise typer.BadParameter(
            "--population says that the table is everybody, --confidence that it is a sample: give one"
        )
    worth = utility_of(utility)
    if keep is not None:
        if epsilon is not None or at_most is not None:
            raise InputError("--keep finds the epsilon; give --keep, --epsilon or --at-most, and no two of them")
        if not population or after or withhold is not None or bits is not None:
            raise InputError(
                "--keep is about the records as they are, for one release: give --population, which says that they are everybody, "
                "and no --after, --withhold or --bits; then design with the epsilon that it names"
            )
    region = None if keep is not None else region_of(promise, alpha, epsilon, at_most)
    if at_most is not None and region is not None:
        print(gained_words(region, at_most), file=sys.stderr if as_json else sys.stdout)
    sure = None if confidence is None else confidence_of(confidence)
    if withhold is not None and out is None:
        raise InputError("--withhold needs --out as well: one has the mechanism, the other what opens it")
    given = [table, *(after or []), *alphabet_files(alphabet).values()]
    for path in (out, withhold):
        if path is not None:
            check_output(path, given)
            given.append(path)
    if pictures is not None:
        check_folder(pictures)
        require_outside(pictures / "mechanism.png", table)
    earlier = [open_mechanism(path, openings or []) for path in after or []]
    declared = Declared(drop_missing, read_bins(bins), read_alphabet(alphabet), anyway)
    joint = declared.read(table, sensitive, useful, earlier)
    clock = Clock(time_limit)
    if region is not None and (beforehand := what_it_may_take(joint, region, worth, time_limit)):
        print(beforehand, file=sys.stderr)
    if region is None:
        wanted = least_epsilon(promise, alpha, str(keep), joint, worth, (1 - _FILE_SHARE) * time_limit)
        sourced = f"{wanted.design.settings}; {declared.source([*sensitive, *useful])}"
        wish = Wish.of(wanted.design.region, joint, confidence=None, everybody=True, after=False)
        solution = wish.told(replace(wanted.design, settings=sourced))
        print(wanted_words(wanted, str(keep)), file=sys.stderr if as_json else sys.stdout)
    else:
        with LiveLine(worth.unit) as live:
            wish = Wish.of(region, joint, confidence=sure, everybody=population, after=bool(earlier))
            advised = isinstance(wish.asked, Robust) and not (no_advice or as_json)
            later = (_FILE_SHARE if out or as_json else 0.0) + (_ADVICE_SHARE if advised else 0.0)
            solver = Optimal(time_limit=time_limit, progress=live.show, clock=clock.reserving(later * time_limit))
            source = declared.source([*sensitive, *useful])
            solution = wish.told(design(joint, wish.asked, utility=worth, solver=solver, source=source, after=earlier))
    if withhold is not None or bits is not None:
        solution = for_sharing(solution, bits) if withhold is not None else restated(prove(solution, bits=bits or 52))
    document = document_of(solution, clock) if out or withhold or as_json else {}
    claims = document.get("claims", {})
    if withhold is not None:
        document, opening = withhold_joint(document, secrets.token_hex(32))
        save(opening, withhold)
    if out is not None:
        save(document, out)
    kept = " and ".join(f"{name} (in bins)" if name in declared.bins else name for name in useful)
    drawn: list[Path] = []
    if pictures is not None:
        drawn = save_pictures(solution, pictures, secret=" and ".join(sensitive), useful=kept)
    if as_json:
        print(to_json(document), end="")
        return
    print(describe(solution, secret=" and ".join(sensitive), useful=kept))
    if document and (less := what_a_file_proves(solution, claims)):
        print(less)
    for path in (out, withhold, *drawn):
        if path is not None:
            print(f"Written: {path}")
    if drawn:
        print(f"The pictures in {pictures} show shares of the table: they are as private as it is.")
    if out is not None:
        private = withhold or out
        print(f"{private} contains the table's counts: it is as private as they are.")
    costs = solution.population is not None and solution.population.errors != 0
    if costs and not no_advice and solution.status is not Status.INTERRUPTED:
        found = advise(solution, solver=solver, clock=clock)
        print("\n".join(advice_lines(found, secret=" and ".join(sensitive), useful=kept, utility=worth)))
