"""A page's server as a user starts it, and requests to it as nobody's browser would send them."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

COMMAND = "from alphalift.__main__ import main; main()"


class Served:
    """`alphalift serve` in a process of its own, in a folder whose `tmp` is all that it may write to."""

    def __init__(self, folder, *arguments):
        self.folder, self.tmp = folder, folder / "tmp"
        self.tmp.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "serve", "--no-browser", *arguments],
            cwd=folder,
            env={**os.environ, "TMPDIR": str(self.tmp)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.link = re.search(rb"http://\S+", self.process.stdout.readline())[0].decode()
        self.port = int(re.search(r":(\d+)/", self.link)[1])
        self.token = self.link.partition("token=")[2]
        self.cookie = ""

    def end(self, by=signal.SIGINT):
        """What it said beside the link, after a Ctrl-C or another signal."""
        self.process.send_signal(by)
        said = self.process.stdout.read().decode()
        self.process.stdout.close()
        self.process.wait(20)
        return said

    def enter(self):
        """Exchange the link for the cookie."""
        answer = self.ask("GET", f"/?token={self.token}", {"cookie": None})
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    def ask(self, method, path, headers=None, body=None):
        """A request as the page sends it, but for these headers; None leaves one out, a list sends it several times."""
        own = {"host": f"127.0.0.1:{self.port}", "cookie": self.cookie}
        if method == "POST":
            own |= {"origin": f"http://127.0.0.1:{self.port}", "content-type": "application/json"}
        if isinstance(body, dict | list):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        if body is not None:
            own["content-length"] = str(len(body))
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in (own | (headers or {})).items():
            for one in value if isinstance(value, list) else [value]:
                if one is not None:
                    connection.putheader(name, one)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused before all of it was sent
            connection.endheaders(body)
        try:
            answer = connection.getresponse()
            answer.text = answer.read().decode("utf-8", "replace")
        except ConnectionResetError:  # too much was sent for an answer to be read
            answer = SimpleNamespace(status=None, text="", headers={})
        connection.close()
        return answer

    def post(self, path, body):
        """As a browser that knows which table is open."""
        look = json.loads(self.ask("GET", "/api/state").text)["look"]
        return json.loads(self.ask("POST", f"/api/{path}", body={"look": look} | body).text)

    def upload(self, content, name="table.csv", headers=None):
        return self.ask(
            "POST", f"/api/table?name={name}", {"content-type": "application/octet-stream"} | (headers or {}), content
        )

    def job(self, number):
        """The job when it is over."""
        while True:
            told = json.loads(self.ask("GET", f"/api/jobs/{number}?seen=0").text)
            if told["state"] not in ("waiting", "running"):
                return told
            time.sleep(0.05)

    @property
    def files(self):
        """All that lies in its temporary folder, and how large it is."""
        return {str(path.relative_to(self.tmp)): path.stat().st_size for path in self.tmp.rglob("*") if path.is_file()}
