"""Every path of the page, in a real Chromium, as its users go."""

import itertools
import os
import subprocess
import sys
import time
import zlib

import pytest
from axe_playwright_python.sync_playwright import Axe

from alphalift.proof import checker
from conftest import SHOTS

EVERYBODY, SAMPLE = "input[value=everybody]", "input[value=sample]"


def open_people(page, folder):
    """Hand the table over, and choose its columns; everybody, so that a design takes a moment."""
    hand_over(page, folder / "people's list.csv")
    page.get_by_label("ill is secret").check()
    page.get_by_label("job is useful").check()
    page.wait_for_selector("#promise-card:not([hidden])")
    page.check(EVERYBODY)


def open_census(page):
    """Race and education are chosen with it."""
    page.wait_for_selector("#opening", state="hidden")
    page.click("#other-table") if page.is_visible("#other-table") else None
    page.click("#census")
    page.wait_for_selector("#promise-card:not([hidden])")


def hand_over(page, path):
    page.wait_for_selector("#opening", state="hidden")  # the table of the test before
    page.set_input_files("#file", path)
    page.wait_for_selector("#opening", state="hidden")


def until(page, expression, seconds=60):
    """Until it is true in the page, whose policy forbids to evaluate texts there by other ways."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(30)


def designed(page):
    """The design for the slider's place, once it is there."""
    until(
        page,
        "document.querySelector('#design').dataset.epsilon === document.querySelector('#epsilon-shown').textContent"
        " && !document.querySelector('#design').classList.contains('old') && !!document.querySelector('#leave-card h4')",
    )
    return page.inner_text("#design .figures dd >> nth=0")


def curve_known(page):
    page.wait_for_selector("#curve svg")


def drag(page, share):
    """With the mouse, from where the slider is."""
    page.locator("#epsilon").scroll_into_view_if_needed()
    box = page.locator("#epsilon").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for step in range(1, 9):
        page.mouse.move(box["x"] + box["width"] * (0.5 + (share - 0.5) * step / 8), box["y"] + box["height"] / 2)
    page.mouse.up()


def shot(page, name):
    page.screenshot(path=SHOTS / f"{name}.png", full_page=True)


def downloaded(page, name, place):
    with page.expect_download() as found:
        page.click(f"a[download='{name}']")
    assert found.value.suggested_filename == name
    found.value.save_as(place / name)
    return place / name


def alphalift(folder, *arguments):
    code = "from alphalift.__main__ import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], cwd=folder, capture_output=True, text=True
    )


def faults(page):
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        (own["id"], own["impact"], [node["target"] for node in own["nodes"]])
        for own in found
        if own["impact"] in ("serious", "critical")
    ]


def test_the_page_is_ready_and_the_link_worked_once(page, server, browser, figures):
    assert not faults(page)
    begun = time.perf_counter()
    page.goto(server.address)
    page.wait_for_selector("html[data-ready]")
    figures.append(f"page ready: {time.perf_counter() - begun:.2f} s (wanted: 3)")
    assert page.inner_text("h1") == "alphalift"
    cookies = [own for own in browser.cookies() if own["name"].startswith("alphalift-")]
    assert [(own["httpOnly"], own["sameSite"]) for own in cookies] == [(True, "Strict")]
    shot(page, "start")


def test_a_table_is_opened_columns_are_told_of_and_a_design_follows(page, folder):
    open_people(page, folder)
    until(page, "document.querySelector('#columns th').textContent === 'ill'")  # what tells most comes first
    told = page.inner_text("#columns tr:nth-child(2) .told")
    assert told.endswith("×")
    assert 0 < float(told.partition("%")[0]) < 100
    assert "identifier" in page.inner_text("#columns tr:has-text('person id') .told")
    assert designed(page).endswith("%")
    assert "<img src=x onerror=alert(1)>" in page.inner_text(".heat")  # as text
    assert page.locator("img").count() == 0
    assert page.inner_text("#design .figures dd >> nth=3") == "5 of 5"
    assert not faults(page)


def test_dragging_is_answered_at_once_and_the_design_follows(page, folder, figures):
    open_people(page, folder)
    curve_known(page)
    designed(page)
    page.evaluate("performance.clearMeasures()")
    before = page.inner_text("#live-risk")
    drag(page, 0.9)
    until(
        page,
        "document.querySelector('#live-risk').dataset.epsilon === document.querySelector('#epsilon-shown').textContent",
    )
    assert page.inner_text("#live-risk") != before
    assert "no group becomes more than" in page.inner_text("#live-risk")
    assert page.inner_text("#live-kept").endswith("%")
    took = page.evaluate("performance.getEntriesByName('live').map((own) => own.duration)")
    assert took
    figures.append(
        f"slider answered: median {sorted(took)[len(took) // 2]:.0f} ms, longest {max(took):.0f} ms of {len(took)} (wanted: 200)"
    )
    begun = time.perf_counter()
    share = designed(page)
    figures.append(f"exact design after the slider rests: {time.perf_counter() - begun:.2f} s (wanted: 1)")
    low, _, high = page.inner_text("#live-kept").replace("%", "").partition(" – ")
    assert float(low) - 0.1 <= float(share.rstrip("%")) <= float(high or low) + 0.1
    page.locator("#epsilon").focus()
    page.keyboard.press("Home")
    until(page, "document.querySelector('#live-gain').textContent === '1.00 ×'")
    assert designed(page)
    assert page.locator("#epsilon").get_attribute("aria-valuetext") == "epsilon 0"


def test_so_much_is_kept_as_is_asked_for(page, folder):
    open_people(page, folder)
    curve_known(page)
    page.fill("#share", "90")
    page.click("text=Find ε")
    page.wait_for_selector("#keep-said:not([hidden])")
    assert "keeps at least 90%" in page.inner_text("#keep-said")
    assert float(designed(page).rstrip("%")) >= 89.9
    page.fill("#typed", "0.1234")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#epsilon-shown').textContent === '0.1234'")
    designed(page)
    page.locator("#alpha").focus()
    page.keyboard.press("Home")
    assert page.inner_text("#alpha-shown") == "α = ∞"
    until(page, "document.querySelector('#design .lead').textContent.includes('max-lift')")


def test_long_work_can_be_stopped_and_asked_for_again(page):
    """A sample of the census' size takes seconds wherever it is designed for."""
    open_census(page)
    page.check(SAMPLE)
    page.wait_for_selector("#design-working .stop")
    page.wait_for_timeout(500)  # until what rested is what is designed
    page.click("#design-working .stop")
    page.click("text=Design it")
    page.click("#design-working .stop:text-is('Stop')")
    page.wait_for_selector("text=Stopped: nothing is designed")
    page.check(EVERYBODY)
    designed(page)
    page.locator("#alpha").focus()
    page.keyboard.press("End")
    page.click("#curve-working .stop")
    page.wait_for_selector("#curve-working", state="hidden")
    assert page.evaluate("document.activeElement.id") == "h-curve"  # who stopped it by key is still there
    page.locator("#alpha").focus()
    page.keyboard.press("Home")
    curve_known(page)


def test_two_designs_are_pinned_and_compared(page, folder):
    open_people(page, folder)
    designed(page)
    page.click("#pin-a")
    drag(page, 0.15)
    second = designed(page)
    page.click("#pin-b")
    rows = page.locator("#compare .facts tbody tr").all_inner_texts()
    kept = next(row for row in rows if row.startswith("kept"))
    assert kept.split()[-1] == second != kept.split()[-2]
    curve_known(page)
    assert page.locator("svg .name").all_inner_texts() or page.locator("svg .name").count() == 2
    assert not faults(page)
    page.click("text=Back to A")
    assert designed(page) == kept.split()[-2]


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


def test_what_leaves_is_what_the_command_and_the_script_make(page, folder, left):
    open_people(page, folder)
    page.fill("#typed", "0.05")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#epsilon-shown').textContent === '0.05'")
    designed(page)
    page.select_option("#record-id", label="person id")
    page.click("#release")
    page.wait_for_selector("a[download='released.csv']")
    page.click("#report")
    page.wait_for_selector("a[download='report.html']")
    names = ["mechanism.json", "report.html", "public.html", "released.csv", "released.csv.codebook.json"]
    names += ["released.csv.manifest.json", "release.key", "release.key.ledger", "design.sh", "design.py"]
    files = {name: downloaded(page, name, left) for name in names}
    assert len(files["released.csv"].read_text().splitlines()) == 3001
    assert all(verdict.proven for verdict in checker.check_files([str(files["mechanism.json"])]))
    assert "<!DOCTYPE html>" in files["report.html"].read_text()
    (left / "people's list.csv").write_bytes((folder / "people's list.csv").read_bytes())
    page.click(".same:first-of-type button")
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(files["design.sh"].read_text().splitlines()[3:])
    shot(page, "wide light")

    again = left / "again"
    again.mkdir()
    for name in ("people's list.csv", "release.key", "release.key.ledger"):
        (again / name).write_bytes((left / name).read_bytes())
        (again / name).chmod(0o600)
    (again / "alphalift").write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'from alphalift.__main__ import main; main()' \"$@\"\n"
    )
    (again / "alphalift").chmod(0o755)
    environment = {
        "PATH": f"{again}:/usr/bin:/bin",
        **{name: value for name, value in os.environ.items() if name.startswith("PYTHON")},
    }
    done = subprocess.run(["sh", files["design.sh"]], cwd=again, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (again / "mechanism.json").read_bytes() == files["mechanism.json"].read_bytes()
    assert (again / "released.csv").read_bytes() == files["released.csv"].read_bytes()
    (again / "mechanism.json").unlink()
    done = subprocess.run(
        [sys.executable, files["design.py"]], cwd=again, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (again / "mechanism.json").read_bytes() == files["mechanism.json"].read_bytes()


def test_a_second_release_of_the_same_people_is_refused_until_it_is_meant(page, folder):
    open_people(page, folder)
    designed(page)
    page.select_option("#record-id", label="person id")
    page.click("#release")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "release" in page.inner_text("#trouble")
    page.expected = ["400"]
    page.check("#again")
    page.click("#release")
    page.wait_for_selector("a[download='released.csv']")
    page.select_option("#record-id", value="")
    assert "draw once" in page.inner_text("#id-help")
    page.uncheck("#again")
    page.click("#release")
    page.wait_for_selector("#trouble:has-text('released a table already')")
    page.check("#again")
    page.click("#release")
    page.wait_for_selector("#leave .notice:has-text('fresh randomness')")


def test_a_sample_is_designed_for_the_people_behind_it(page, folder):
    open_people(page, folder)
    page.check(SAMPLE)
    until(
        page,
        "document.querySelector('#design .figures') && !document.querySelector('#design').classList.contains('old')",
    )
    page.wait_for_selector("#leave-card h4")
    page.click("#design summary >> nth=0")
    assert "The population: if the 3000 records are a random sample" in page.inner_text("#design")
    assert "--no-advice" in page.inner_text("#leave .same >> nth=0")


def test_what_is_wrong_is_said_and_the_page_goes_on(page, folder, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n3\n")
    page.expected = ["400"]
    hand_over(page, tmp_path / "bad.csv")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "bad.csv is not a table: row 2 of the data" in page.inner_text("#trouble")
    page.click("#trouble button")
    (tmp_path / "picture.png").write_bytes(zlib.compress(b"0" * 100))
    hand_over(page, tmp_path / "picture.png")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "expected a table" in page.inner_text("#trouble")
    open_people(page, folder)
    designed(page)


def test_it_looks_as_it_should_on_phones_and_wide_screens(page):
    """The census; nothing is wider than the screen, and axe finds no serious fault."""
    open_census(page)
    page.check(EVERYBODY)
    curve_known(page)
    designed(page)
    page.click("#pin-a")
    for summary in page.locator("summary").all():
        summary.click()
    for scheme, width in itertools.product(("light", "dark"), (390, 768, 1400)):
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert not faults(page)
        shot(page, f"census {width} {scheme}")
    page.set_viewport_size({"width": 1400, "height": 900})
