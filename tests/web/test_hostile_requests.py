"""What a page of another site, another user or a file of a stranger may try: refused or harmless, and nothing stays on the disk."""

import ast
import contextlib
import gzip
import io
import json
import re
import shlex
import socket
import time
import zipfile

import pyarrow as pa
import pyarrow.parquet
import pytest
from served import Served

from alphalift.web.guard import HEADERS
from alphalift.web.place import MOST_UPLOADED_BYTES

# Cells of the table that must be in no message and no log.
CELL = "Zebulon-7731"
ROWS = [("id", "ill", "job"), *((str(n), "yes" if n % 3 else "no", CELL if n % 2 else "cook") for n in range(400))]
TABLE = "\n".join(map(",".join, ROWS)).encode()
COLUMNS = {"sensitive": ["ill"], "useful": ["job"]}
DESIGN = COLUMNS | {"alpha": "10", "epsilon": "0.1", "everybody": True}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    own = Served(tmp_path_factory.mktemp("served"))
    own.first = own.enter()
    opened = json.loads(own.upload(TABLE).text)
    own.job(opened["job"])
    own.look = opened["job"]
    own.counted = own.post("count", COLUMNS)["job"]
    own.designed = own.post("design", DESIGN)["job"]
    assert own.job(own.designed)["state"] == "done"
    yield own
    said = own.end()
    assert CELL not in said
    assert "Traceback" not in said
    assert not list(own.tmp.iterdir())


@pytest.fixture(scope="module")
def visited(server):
    """A server for whoever replaces the table."""
    return server


def at(server, text):
    """An address or a body of the table below."""
    for name, value in {
        "PORT": server.port,
        "DESIGN": server.designed,
        "COUNT": server.counted,
        "TOKEN": server.token,
    }.items():
        text = text.replace(name, str(value))
    return text


NOBODY = {"cookie": None}
JSON = {"content-type": "application/json"}
# Method, address, headers beside those of the page, body, and what it is answered.
REQUESTS = {
    "the page without a cookie": ("GET", "/", NOBODY, None, 401),
    "a script without a cookie": ("GET", "/page.js", NOBODY, None, 401),
    "the state without a cookie": ("GET", "/api/state", NOBODY, None, 401),
    "a mechanism without a cookie": ("GET", "/api/files/DESIGN/mechanism.json", NOBODY, None, 401),
    "a change without a cookie": ("POST", "/api/census", NOBODY, "{}", 401),
    "a wrong token": ("GET", "/?token=abc", NOBODY, None, 401),
    "the token once more": ("GET", "/?token=TOKEN", NOBODY, None, 401),
    "an empty token": ("GET", "/?token=", NOBODY, None, 401),
    "a token that is no text": ("GET", "/?token=%ff%fe", NOBODY, None, 401),
    "a wrong cookie": ("GET", "/api/state", {"cookie": "alphalift-PORT=abc"}, None, 401),
    "a cookie of another port": ("GET", "/api/state", {"cookie": "alphalift-1=abc"}, None, 401),
    "a cookie that is none": ("GET", "/api/state", {"cookie": '=;;;"\\'}, None, 401),
    "another host": ("GET", "/api/state", {"host": "evil.example"}, None, 421),
    "another host at this port": ("GET", "/api/state", {"host": "evil.example:PORT"}, None, 421),
    "a host that begins like ours": ("GET", "/api/state", {"host": "127.0.0.1:PORT.evil.example"}, None, 421),
    "a host without a port": ("GET", "/api/state", {"host": "127.0.0.1"}, None, 421),
    "another port": ("GET", "/api/state", {"host": "127.0.0.1:1"}, None, 421),
    "the token with another host": ("GET", "/?token=TOKEN", {"host": "evil.example"}, None, 421),
    "two hosts": ("GET", "/api/state", {"host": ["127.0.0.1:PORT", "evil.example"]}, None, (400, 421)),
    "no host": ("GET", "/api/state", {"host": None}, None, (400, 421)),
    "another origin": ("POST", "/api/census", {"origin": "http://evil.example"}, "{}", 403),
    "no origin": ("POST", "/api/census", {"origin": None}, "{}", 403),
    "the origin of a file": ("POST", "/api/census", {"origin": "null"}, "{}", 403),
    "the origin of another port": ("POST", "/api/census", {"origin": "http://127.0.0.1:1"}, "{}", 403),
    "our origin by another name": ("POST", "/api/census", {"origin": "http://localhost:PORT"}, "{}", 403),
    "two origins": ("POST", "/api/census", {"origin": ["http://127.0.0.1:PORT", "http://evil.example"]}, "{}", 403),
    "an upload of another origin": (
        "POST",
        "/api/table?name=a.csv",
        {"origin": "http://evil.example"},
        "a,b\n1,2\n",
        403,
    ),
    "a picture of another site": ("GET", "/api/state", {"sec-fetch-site": "cross-site"}, None, 403),
    "another page of this machine": ("GET", "/api/state", {"sec-fetch-site": "same-site"}, None, 403),
    "whether another site may ask": ("OPTIONS", "/api/census", {"origin": "http://evil.example"}, None, 405),
    "PUT": ("PUT", "/api/table", {}, "a", 405),
    "DELETE": ("DELETE", "/api/table", {}, None, 405),
    "TRACE": ("TRACE", "/", {}, None, 405),
    "a change by a link": ("GET", "/api/census", {}, None, 405),
    "a form to the page": ("POST", "/", {}, "{}", 405),
    "up and away": ("GET", "/../../../../etc/passwd", {}, None, 404),
    "up in hex": ("GET", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", {}, None, 404),
    "up in hex, slashes too": ("GET", "/..%2f..%2f..%2fetc%2fpasswd", {}, None, 404),
    "up in hex twice": ("GET", "/%252e%252e%252f%252e%252e%252fetc%252fpasswd", {}, None, 404),
    "up by other slashes": ("GET", "/..%5c..%5cetc%5cpasswd", {}, None, 404),
    "a file of the package": ("GET", "/static/page.js", {}, None, 404),
    "a name with an end in it": ("GET", "/page.js%00.html", {}, None, 404),
    "up from the files": ("GET", "/api/files/DESIGN/..%2f..%2flock", {}, None, 404),
    "the table itself": ("GET", "/api/files/DESIGN/..%2ftable%2ftable.csv", {}, None, 404),
    "a file that is none": ("GET", "/api/files/DESIGN/lock", {}, None, 404),
    "a design that is none": ("GET", "/api/files/999/mechanism.json", {}, None, 404),
    "a design below zero": ("GET", "/api/files/-1/mechanism.json", {}, None, 404),
    "a design of many digits": ("GET", f"/api/files/{'9' * 5000}/mechanism.json", {}, None, (400, 404, 414, 431)),
    "a long question": ("GET", f"/api/state?{'a' * 5000}", {}, None, 414),
    "a long head": ("GET", "/api/state", {"x-long": "a" * 70_000}, None, (400, 431, None)),
    "a long text": ("POST", "/api/live", {}, json.dumps({"alpha": "1" * 10_000_000}), (413, None)),
    "a deep text": ("POST", "/api/live", {}, "[" * 30_000 + "]" * 30_000, 400),
    "no JSON": ("POST", "/api/live", {}, "alpha=10", 400),
    "no UTF-8": ("POST", "/api/live", {}, b'{"alpha": "\xff\xfe"}', 400),
    "a form's type": ("POST", "/api/live", {"content-type": "text/plain"}, "{}", 400),
    "a list": ("POST", "/api/live", {}, [1], 400),
    "a number that is none": ("POST", "/api/keep", {}, '{"curve": 1, "share": NaN}', 400),
    "nothing": ("POST", "/api/design", {}, {}, 400),
    "a negative epsilon": ("POST", "/api/design", {}, DESIGN | {"epsilon": "-0.1"}, 400),
    "an epsilon that is none": ("POST", "/api/design", {}, DESIGN | {"epsilon": "NaN"}, 400),
    "an epsilon with a line": ("POST", "/api/design", {}, DESIGN | {"epsilon": "0.1\nimport os"}, 400),
    "an epsilon that ends in a line": ("POST", "/api/design", {}, DESIGN | {"epsilon": "0.1\n"}, 400),
    "an epsilon in other digits": ("POST", "/api/design", {}, DESIGN | {"epsilon": "\u0660.\u0661"}, 400),
    "an epsilon without an end": ("POST", "/api/design", {}, DESIGN | {"epsilon": "inf"}, 400),
    "an epsilon beyond all": ("POST", "/api/design", {}, DESIGN | {"epsilon": "1e999999999"}, 400),
    "an alpha of one": ("POST", "/api/design", {}, DESIGN | {"alpha": "1"}, 400),
    "an alpha as a number": ("POST", "/api/design", {}, DESIGN | {"alpha": 10}, 400),
    "everybody as a text": ("POST", "/api/design", {}, DESIGN | {"everybody": "yes"}, 400),
    "columns as a text": ("POST", "/api/count", {}, {"sensitive": "ill", "useful": ["job"]}, 400),
    "columns as numbers": ("POST", "/api/count", {}, {"sensitive": [1], "useful": [None]}, 400),
    "many columns": ("POST", "/api/count", {}, {"sensitive": ["ill"] * 1000, "useful": ["job"]}, 400),
    "a column for both": ("POST", "/api/count", {}, {"sensitive": ["ill"], "useful": ["ill"]}, 400),
    "bins that are none": ("POST", "/api/count", {}, COLUMNS | {"bins": ["job=__import__('os')"]}, 400),
    "what another column tells": ("POST", "/api/tells", {}, {"look": 0, "sensitive": ["x"], "of": []}, 404),
    "a job that is none": ("GET", "/api/jobs/123456", {}, None, 404),
    "an end of what is none": ("POST", "/api/stop", {}, {"job": "1"}, 404),
    "a curve that is none": ("POST", "/api/live", {}, {"count": [], "curve": {}, "alpha": "10", "epsilon": "0.1"}, 404),
    "too much kept": ("POST", "/api/keep", {}, {"curve": 1, "share": 2}, (400, 404)),
    "a release of nothing": ("POST", "/api/apply", {}, {"design": 999, "id": "id", "new_release": False}, 404),
    "a release of a wrong type": (
        "POST",
        "/api/apply",
        {},
        {"design": True, "id": ["id"], "new_release": 1},
        (400, 404),
    ),
    "a table of no type": ("POST", "/api/table?name=a.csv", {}, "a,b\n1,2\n", 400),
    "a table that is announced as too large": (
        "POST",
        "/api/table?name=a.csv",
        {"content-type": "application/octet-stream", "content-length": str(2 * MOST_UPLOADED_BYTES)},
        None,
        413,
    ),
    "an address that is none": ("POST", "/api/nothing", {}, "{}", 404),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_it_is_refused_and_nothing_stays(server, name):
    method, path, headers, body, expected = REQUESTS[name]
    before = server.files
    headers = {
        key: [at(server, one) for one in value] if isinstance(value, list) else value and at(server, value)
        for key, value in headers.items()
    }
    answer = server.ask(method, at(server, path), headers, body)
    assert answer.status in (expected if isinstance(expected, tuple) else (expected,)), answer.text
    assert CELL not in answer.text
    assert "root:" not in answer.text
    assert not [key for key in answer.headers if key.lower().startswith("access-control")]
    assert server.files == before
    assert server.ask("GET", "/api/state").status == 200
    assert server.job(server.designed)["state"] == "done"


def test_there_are_as_many_as_were_asked_for():
    assert len(REQUESTS) >= 40


@pytest.mark.parametrize("path", ["/", "/page.css", "/api/state", "/nothing", "/api/files/DESIGN/mechanism.json"])
def test_every_answer_has_its_headers(server, path):
    answer = server.ask("GET", at(server, path))
    for name, value in HEADERS.items():
        assert answer.headers.get_all(name) == [value]
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_the_cookie_is_for_this_site_alone_and_for_no_script(server):
    assert server.first.status == 200
    assert {"HttpOnly", "SameSite=strict"} <= {part.strip() for part in server.first.headers["set-cookie"].split(";")}
    assert server.token not in server.cookie


def test_it_listens_to_this_machine_alone(server):
    """Every address of 127/8 is this machine: of one that listens to all addresses the next one answers as well."""
    socket.create_connection(("127.0.0.1", server.port), 5).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", server.port), 5)


def test_what_is_downloaded_is_no_page_of_this_site(server):
    answer = server.ask("GET", at(server, "/api/files/DESIGN/mechanism.json"))
    assert answer.status == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-type"] == "application/octet-stream"


def bomb_gzip():
    """2.2 GB in 2 MB."""
    part = io.BytesIO()
    with gzip.GzipFile(fileobj=part, mode="wb") as file:
        file.write(b"a,b\n" * (1 << 24))
    return part.getvalue() * 34


def bomb_workbook(lying):
    part = io.BytesIO()
    with (
        zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as file,
    ):
        for _ in range(300):
            file.write(bytes(1 << 20))
    content = bytearray(part.getvalue())
    if lying:  # the archive's own list says that it unpacks to nothing
        place = content.rfind(b"PK\x01\x02")
        content[place + 24 : place + 28] = (10).to_bytes(4, "little")
    return bytes(content)


def bomb_parquet():
    """Every row the same, and many of them."""
    part = io.BytesIO()
    rows = pa.table(
        {"a": pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()).take(pa.array([0] * 1_000_000)), ["x"])}
    )
    with pyarrow.parquet.ParquetWriter(part, rows.schema) as writer:
        for _ in range(101):
            writer.write_table(rows)
    return part.getvalue()


FILES = {
    "a packed CSV of 2 GB": ("a.csv.gz", bomb_gzip, "unpacks to more than"),
    "a workbook of 300 MB": ("a.xlsx", lambda: bomb_workbook(lying=False), "unpacks to more than"),
    "a workbook that lies about it": ("a.xlsx", lambda: bomb_workbook(lying=True), "cannot be unpacked"),
    "a Parquet file of 101 million rows": ("a.parquet", bomb_parquet, "rows, which is more than the page takes"),
    "a Parquet file that is none": ("a.parquet", lambda: b"PAR1" + b"x" * 1000 + b"PAR1", "cannot be read"),
    "many columns": ("a.csv", lambda: ",".join(map(str, range(30_000))).encode() + b"\n1\n", "a.csv"),
    "a column twice": ("a.csv", lambda: b"a,a\n1,2\n", "a.csv"),
    "no text": ("a.csv", lambda: bytes(range(256)) * 100, "a.csv"),
    "a packed file that is cut": ("a.csv.gz", lambda: gzip.compress(TABLE)[:-20], "cannot be unpacked"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_a_bomb_or_broken_is_refused_with_its_name(server, name):
    called, content, words = FILES[name]
    answer = server.upload(content(), called)
    job = server.job(json.loads(answer.text)["job"])
    assert job["state"] == "failed"
    assert words in job["error"]
    assert str(server.tmp) not in job["error"]
    assert server.ask("GET", "/api/state").status == 200


def test_more_than_is_taken_is_refused_while_it_comes_and_nothing_stays(server):
    """Without a length: twice of what is taken, or as much as the server reads."""
    head = f"POST /api/table?name=a.csv HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\norigin: http://127.0.0.1:{server.port}\r\ncookie: {server.cookie}\r\n"
    head += "content-type: application/octet-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    part = b"100000\r\n" + bytes(1 << 20) + b"\r\n"
    sent = 0
    with socket.create_connection(("127.0.0.1", server.port), 60) as line:
        line.sendall(head.encode())
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(2 * MOST_UPLOADED_BYTES >> 20):
                line.sendall(part)
                sent += 1 << 20
        with contextlib.suppress(ConnectionResetError):
            answer = line.recv(20)
            assert answer in (b"", b"HTTP/1.1 413 Request"[:20]) or b"413" in answer
    assert sent < 2 * MOST_UPLOADED_BYTES
    assert not [name for name in server.files if "table" in name]
    assert json.loads(server.ask("GET", "/api/state").text)["table"] is None


def test_a_table_that_comes_while_another_is_sent_is_the_one_that_stays(server):
    """The slower one is refused when it is there, and its bytes are gone; it is never shown under the other's name."""
    other = TABLE.replace(b"cook", b"nurse")
    head = f"POST /api/table?name=slow.csv HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\norigin: http://127.0.0.1:{server.port}\r\ncookie: {server.cookie}\r\n"
    head += f"content-type: application/octet-stream\r\ncontent-length: {len(TABLE)}\r\nconnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), 60) as line:
        line.sendall(head.encode() + TABLE[:1000])
        while not any("table-" in name for name in server.files):
            time.sleep(0.02)
        look = json.loads(server.upload(other, "quick.csv").text)["job"]
        server.job(look)
        line.sendall(TABLE[1000:])
        answer = b"".join(iter(lambda: line.recv(1 << 16), b""))
    assert answer.startswith(b"HTTP/1.1 404")
    assert json.loads(server.ask("GET", "/api/state").text)["table"]["name"] == "quick.csv"
    (kept,) = [name for name in server.files if "table-" in name]
    assert (server.tmp / kept).read_bytes() == other
    number = server.post("count", COLUMNS)["job"]
    assert server.job(number)["state"] == "done"


def test_a_tab_that_knows_another_table_is_refused(server):
    before = json.loads(server.upload(TABLE).text)["job"]
    server.job(before)
    server.job(json.loads(server.upload(TABLE).text)["job"])
    for path, body in (("count", COLUMNS), ("curve", DESIGN), ("design", DESIGN)):
        assert server.ask("POST", f"/api/{path}", body=body | {"look": before}).status == 404
        assert server.ask("POST", f"/api/{path}", body=body).status == 404


def test_nobody_is_answered_twice_without_a_key(server):
    server.job(json.loads(server.upload(TABLE).text)["job"])
    number = server.post("design", DESIGN)["job"]
    assert server.job(number)["state"] == "done"

    def released(record_id, again=False):
        return server.ask("POST", "/api/apply", body={"design": number, "id": record_id, "new_release": again})

    first = released("")
    assert first.status == 200
    assert server.job(json.loads(first.text)["job"])["state"] == "done"
    for record_id in ("", "id"):
        assert released(record_id).status == 400
    meant = released("", again=True)
    assert server.job(json.loads(meant.text)["job"])["state"] == "done"


@pytest.mark.parametrize("name", ["a.html", "a.json", "a", "", ".csv", "a.py", "a.parquet.gz", "%00.csv%00"])
def test_a_file_of_another_kind_is_refused_and_the_table_stays(server, name):
    before = server.files
    answer = server.upload(b"a,b\n1,2\n", name)
    assert answer.status == 400
    assert server.files == before


@pytest.mark.parametrize(
    "name",
    [
        "..%2f..%2fa.csv",
        "%2fetc%2fpasswd.csv",
        "C:%5ca.csv",
        "$(touch pwned).csv".replace(" ", "%20"),
        "-a.csv",
        "a%0ab.csv",
        "<b>.csv",
    ],
)
def test_a_files_name_is_never_a_path_and_never_a_command(server, name):
    server.job(json.loads(server.upload(TABLE, name).text)["job"])
    (stored,) = [own for own in server.files if "table" in own]
    assert re.search(r"/table-\w+/table\.csv$", stored)
    number = server.post("design", DESIGN)["job"]
    assert server.job(number)["state"] == "done"
    told = json.loads(server.ask("GET", f"/api/same/{number}").text)
    shown = json.loads(server.ask("GET", "/api/state").text)["table"]["name"]
    assert "/" not in shown
    assert shown.isprintable()
    words = shlex.split(told["commands"][0])
    assert words[:2] == ["alphalift", "design"]
    assert words[2].removeprefix("./") == shown
    assert not words[2].startswith("-")
    assert shlex.split(server.ask("GET", f"/api/files/{number}/design.sh").text, comments=True)[2:5] == words[:3]


def test_columns_and_labels_of_scripts_are_texts(server):
    column, label = '"]); import os #', "<script>alert(1)</script>"
    rows = [
        ["id", column, "job"],
        *([str(n), "yes" if n % 3 else "no", label if n % 2 else "$(x)"] for n in range(300)),
    ]
    text = "\n".join(",".join(f'"{cell.replace(chr(34), 2 * chr(34))}"' for cell in row) for row in rows)
    server.job(json.loads(server.upload(text.encode()).text)["job"])
    number = server.post("design", DESIGN | {"sensitive": [column]})["job"]
    job = server.job(number)
    assert label in job["result"]["x_labels"]
    answer = server.ask("GET", f"/api/jobs/{number}")
    assert answer.headers["content-type"] == "application/json"
    told = json.loads(server.ask("GET", f"/api/same/{number}").text)
    calls = [
        own
        for own in ast.walk(ast.parse(told["script"]))
        if isinstance(own, ast.Call) and ast.unparse(own.func) == "read_joint"
    ]
    assert ast.literal_eval(calls[0].keywords[0].value) == [column]
    assert column in shlex.split(told["commands"][0])
