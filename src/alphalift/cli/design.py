"""`alphalift design`: from a table to a mechanism with its proof."""

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
    Separator,
    Sheet,
    Table,
    TimeLimit,
    Useful,
    UtilityText,
)
from alphalift.errors import InputError
from alphalift.terminal import require_table
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
    keep: Annotated[
        str | None,
        typer.Option(
            help="Instead of epsilon the share of X to keep, '90%': the least epsilon for it is found, with --population."
        ),
    ] = None,
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
    ordered: Annotated[
        list[str] | None,
        typer.Option(
            help="Mix similar values of this useful column first, by the order of its numbers, bins or --alphabet; or 'column=NUMBERS', "
            "by another column of the table."
        ),
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            help="The same by 'column=FILE', a CSV file with a value, its parent, its grandparent, ... in each row."
        ),
    ] = None,
    give_up: Annotated[
        str | None,
        typer.Option(help="The share of X that may be given up for similar values, '1%'; 0.01% unless told."),
    ] = None,
    separator: Separator = None,
    sheet: Sheet = None,
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
) -> None:
    """Design a mechanism for one table, secret, useful column and promise, with its proof.

    Without a promise it is --at-most 1.5: no group becomes more than 1.5 times as likely.
    """
    if population and confidence is not None:
        raise typer.BadParameter(
            "--population says that the table is everybody, --confidence that it is a sample: give one"
        )
    if keep is not None:
        if epsilon is not None or at_most is not None:
            raise InputError("--keep finds the epsilon; give --keep, --epsilon or --at-most, and no two of them")
        if not population or after or withhold is not None or bits is not None:
            raise InputError(
                "--keep is about the records as they are, for one release: give --population, which says that they are everybody, "
                "and no --after, --withhold or --bits; then design with the epsilon that it names"
            )
    if withhold is not None and out is None:
        raise InputError("--withhold needs --out as well: one has the mechanism, the other what opens it")
    from alphalift.given import (
        Declared,
        alphabet_files,
        asked_kind,
        check_folder,
        check_output,
        chosen_words,
        confidence_of,
        read_alphabet,
        read_bins,
        region_of,
        share_of,
        table_of,
        utility_of,
    )

    typed = utility_of(utility)
    sure = None if confidence is None else confidence_of(confidence)
    if keep is None:
        region = region_of(promise, alpha, epsilon, at_most)
    else:
        asked, share = (
            asked_kind(promise, () if promise is not None and alpha is None else (alpha or "inf",)),
            share_of(keep, "--keep"),
        )
    from alphalift.ordered import Similar

    similar = Similar.read(ordered, hierarchy, give_up)
    similar.require(useful)
    given = [table, *(after or []), *alphabet_files(alphabet).values(), *similar.hierarchies.values()]
    for path in (out, withhold):
        if path is not None:
            check_output(path, given)
            given.append(path)
    if pictures is not None:
        check_folder(pictures)
        require_outside(pictures / "mechanism.png", table)
    declared = Declared(drop_missing, read_bins(bins), read_alphabet(alphabet), anyway)
    require_table(table)
    opened = table_of(table, separator, sheet)
    joint = None if after else declared.read(opened, sensitive, useful)
    distance = similar.distance(joint, opened) if similar.wanted and joint is not None else None
    told = sys.stderr if as_json else sys.stdout
    names = " and ".join(sensitive), " and ".join(useful)
    for line in declared.said:
        print(line, file=told)
    if keep is None and (chosen := chosen_words(region, at_most, promise, alpha)):
        print(chosen, file=told)

    # What was typed is in order: from here on it is loaded and computed for seconds.
    import secrets
    from dataclasses import replace

    from alphalift.clock import Clock
    from alphalift.design import design
    from alphalift.document import save, to_json, withhold_joint
    from alphalift.population import Robust, advise, restated
    from alphalift.proof.prove import prove
    from alphalift.sharing import for_sharing
    from alphalift.show.advice import advice_lines
    from alphalift.show.caution import cautions
    from alphalift.show.live import LiveLine
    from alphalift.show.words import describe, wanted_words, what_a_file_proves, what_it_may_take
    from alphalift.solution import Status
    from alphalift.solvers import Optimal
    from alphalift.tasks import Wish, document_of, least_epsilon, open_mechanism
    from alphalift.utilities import as_utility

    worth = as_utility(typed)
    earlier = [open_mechanism(path, openings or []) for path in after or []]
    joint = joint or declared.read(opened, sensitive, useful, earlier)
    source = declared.source([*sensitive, *useful])
    for line in cautions(joint, secret=names[0], useful=names[1]):
        print(line, file=told)
    if similar.wanted and distance is None:
        distance = similar.distance(joint, opened)
    clock = Clock(time_limit)
    if keep is not None:
        wanted = least_epsilon(asked, share, joint, worth, (1 - _FILE_SHARE) * time_limit)
        wish = Wish.of(wanted.design.region, joint, confidence=None, everybody=True, after=False)
        solution = wish.told(replace(wanted.design, settings=f"{wanted.design.settings}; {source}"))
        print(wanted_words(wanted, keep), file=told)
    else:
        if beforehand := what_it_may_take(joint, region, worth, time_limit):
            print(beforehand, file=sys.stderr)
        with LiveLine(worth.unit, limit=time_limit) as live:
            wish = Wish.of(region, joint, confidence=sure, everybody=population, after=bool(earlier))
            advised = isinstance(wish.asked, Robust) and not (no_advice or as_json)
            later = (_FILE_SHARE if out or as_json else 0.0) + (_ADVICE_SHARE if advised else 0.0)
            solver = Optimal(time_limit=time_limit, progress=live.show, clock=clock.reserving(later * time_limit))
            solution = wish.told(design(joint, wish.asked, utility=worth, solver=solver, source=source, after=earlier))
    similarity = ""
    if distance is not None:
        from alphalift.nearby import USUAL_SHARE, nearby, would_be_nearer
        from alphalift.show.similar import similar_words

        found = nearby(solution, distance, share=similar.share or USUAL_SHARE, time_limit=max(clock.left / 3, 1.0))
        more = would_be_nearer(found, solution) if similar.share is None else None
        similarity = similar_words(
            found,
            useful=" and ".join(useful),
            utility=worth,
            more=more,
            coarse=bits is not None or withhold is not None,
        )
        solution = found.told(similar.words)
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
        from alphalift.show.pictures import save_pictures

        drawn = save_pictures(solution, pictures, secret=" and ".join(sensitive), useful=kept)
    if as_json:
        print(to_json(document), end="")
        return
    print(describe(solution, secret=" and ".join(sensitive), useful=kept))
    if document and (less := what_a_file_proves(solution, claims)):
        print(less)
    if similarity:
        print(similarity)
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
        with LiveLine(what="looking for what would keep more", limit=clock.left):
            advice = advise(solution, solver=solver, clock=clock)
        print("\n".join(advice_lines(advice, secret=" and ".join(sensitive), useful=kept, utility=worth)))
