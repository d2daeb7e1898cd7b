"""A server as a user starts it, and Chromium: one of each for all tests, a fresh page of it for every test."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
SHOTS = ROOT / "build" / "page"
FLAGS = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync"
PEOPLE = 3000


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Where the user stands: with a table whose names and labels are as awkward as they come."""
    place = tmp_path_factory.mktemp("user")
    rng = np.random.default_rng(7)
    job = rng.integers(0, 4, PEOPLE)
    ill = rng.random(PEOPLE) < np.array([0.1, 0.2, 0.35, 0.5])[job]
    pd.DataFrame(
        {
            "person id": range(PEOPLE),
            "job": np.array(["cook", "<img src=x onerror=alert(1)>", "driver", 'clerk, "chief"'])[job],
            "ill": np.where(ill, "yes", "no"),
            "age": rng.integers(16, 90, PEOPLE),
            "town": rng.choice(["north", "south"], PEOPLE),
        }
    ).to_csv(place / "people's list.csv", index=False)
    return place


class Server:
    """`alphalift serve`, in a process of its own."""

    def __init__(self, folder, *arguments):
        code = "from alphalift.__main__ import main; main()"
        environment = {**os.environ, "TMPDIR": str(folder / "tmp")}
        (folder / "tmp").mkdir(exist_ok=True)
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, "serve", "--no-browser", *arguments],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.link = re.search(r"http://\S+", self.process.stdout.readline())[0]
        self.address = self.link.partition("/?")[0]

    def end(self):
        """What it printed beside the link."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=20)
        return out + err


@pytest.fixture(scope="session")
def server(folder):
    own = Server(folder)
    yield own
    said = own.end()
    assert not said.strip()
    assert own.process.returncode == 0
    assert list((folder / "tmp").iterdir()) == []  # what was uploaded is gone


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        profile = tmp_path_factory.mktemp("profile")
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=program,
            args=FLAGS.split(),
            accept_downloads=True,
            viewport={"width": 1400, "height": 900},
        )
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield context
        context.close()


@pytest.fixture
def page(browser, server):
    """The page, without a complaint of the browser at its end."""
    own, complaints = browser.new_page(), []
    own.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
    own.on("pageerror", lambda error: complaints.append(str(error)))
    own.on("request", lambda asked: None if asked.url.startswith(server.address) else complaints.append(asked.url))
    own.on("response", lambda got: complaints.append(f"{got.status} {got.url}") if got.status >= 400 else None)
    own.on("dialog", lambda dialog: (complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
    own.expected = []
    own.set_default_timeout(60_000)
    own.goto(server.link)
    own.wait_for_selector("html[data-ready]")
    yield own
    SHOTS.mkdir(parents=True, exist_ok=True)
    own.close()
    unexpected = [text for text in complaints if not any(part in text for part in own.expected)]
    assert not unexpected


@pytest.fixture(scope="session", autouse=True)
def figures():
    """What was measured is printed at the end."""
    found = []
    yield found
    print("\n" + "\n".join(found))
