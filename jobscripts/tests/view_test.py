#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""crosstalk view finds the page of a directory and shows it on a display; without one it serves only what is below the
directory, and only to who has the address."""
import http.client
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(os.environ["CROSSTALK_BIN"]) / "crosstalk"
if not PROGRAM.exists():
    print("skipped: no crosstalk")
    sys.exit(77)
BARE = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
wrong = []


def check(sentence, holds, said=""):
    if not holds:
        wrong.append(f"not true: {sentence} {said}")


def tree(root):
    run = root / "run"
    (run / "report").mkdir(parents=True)
    (run / "report/index.html").write_text("<h1>the report</h1>")
    (run / "report/effects.svg").write_text("<svg/>")
    (run / "report/effects.csv").write_text("a,b\n")
    (run / "report/a b.md").write_text("text")
    (run / "report/trace.evt").write_bytes(bytes(range(256)) * 4096)
    (root / "secret.txt").write_text("secret")
    (root / "run-2").mkdir()  # its name begins with the name of the served run
    (root / "run-2/secret.txt").write_text("secret")
    (run / "link.txt").symlink_to(root / "secret.txt")
    (run / "linked").symlink_to(root)
    (run / "inner.html").symlink_to(run / "report/index.html")
    (run / "loop").symlink_to(run / "loop")
    os.mkfifo(run / "pipe")
    return run


class View:
    def __init__(self, *words, env=None):
        self.process = subprocess.Popen([PROGRAM, "view", *map(str, words)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=env or BARE)
        self.url = self.process.stdout.readline().strip()
        where, self.path = self.url.removeprefix("http://").split("/", 1)
        self.key = "/" + self.path.split("/", 1)[0]
        self.port = int(where.split(":")[1])

    def get(self, path, method="GET", host=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", host or f"127.0.0.1:{self.port}")
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=20)
        return self.process.returncode, said


def serves(root, run):
    view = View(run)
    status, page, headers = view.get("/" + view.path)
    check("the printed address is the page", status == 200 and b"the report" in page, view.url)
    check("the page may not tell others its address", headers["Referrer-Policy"] == "no-referrer")
    for name, kind in (("index.html", "text/html"), ("effects.svg", "image/svg+xml"), ("effects.csv", "text/csv"),
                       ("a%20b.md", "text/plain"), ("trace.evt", "application/octet-stream")):
        status, content, headers = view.get(f"{view.key}/report/{name}")
        check(f"{name} is {kind}", status == 200 and headers["Content-Type"].startswith(kind), headers["Content-Type"])
        check(f"{name} is whole", len(content) == int(headers["Content-Length"]) and content)
    check("a folder is its index.html", view.get(view.key + "/report/")[0] == 200)
    check("a link within the directory is followed", b"the report" in view.get(view.key + "/inner.html")[1])
    check("HEAD has no content", view.get("/" + view.path, "HEAD")[:2] == (200, b""))
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
        check(f"{method} is refused", view.get("/" + view.path, method)[0] == 501)
    up = "../" * 9
    for path in ("/", "/report/index.html", view.key, view.key + "/", "/wrong/report/index.html",
                 f"{view.key}/../../secret.txt", f"{view.key}/{up}etc/passwd", f"{view.key}/..%2f..%2fsecret.txt",
                 f"{view.key}/%2e%2e/secret.txt", f"{view.key}/%252e%252e/secret.txt", f"{view.key}/report/..\\..\\secret.txt",
                 f"{view.key}/link.txt", f"{view.key}/linked/secret.txt", f"{view.key}/../run-2/secret.txt",
                 f"{view.key}//etc/passwd", f"{view.key}/%2fetc%2fpasswd", f"{view.key}/pipe", f"{view.key}/loop",
                 f"{view.key}/report/index.html%00.svg", f"{view.key}/none", f"{view.key}/{'x' * 5000}",
                 f"{view.key}/%ff%fe", f"{view.key}/report/index.html/", "/%f0%9f%98%80/x"):
        status, content, _ = view.get(path)
        harmless = status == 404 or (path.endswith("index.html/") and status == 200)
        check(f"{path[:60]} is not there", harmless and b"secret" not in content and b"root:" not in content, str(status))
    for host in ("evil.example", f"evil.example:{view.port}", "127.0.0.1", "127.0.0.1:1"):
        check(f"the host {host} is refused", view.get("/" + view.path, host=host)[0] == 403)
    check("localhost is this machine", view.get("/" + view.path, host=f"localhost:{view.port}")[0] == 200)
    listening = [line.split()[1] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
                 if line.split()[3] == "0A" and line.split()[1].endswith(f":{view.port:04X}")]
    check("it listens at 127.0.0.1 alone", listening == [f"0100007F:{view.port:04X}"], str(listening))
    with socket.create_connection(("127.0.0.1", view.port)) as idle, View(run) as other:
        idle.send(b"GET ")
        check("a slow client holds up no other", view.get("/" + view.path)[0] == 200)
        check("a second one has its own port and key", other.port != view.port and other.key != view.key)
        check("and its own key alone", other.get("/" + view.path)[0] == 404)
        with socket.create_connection(("127.0.0.1", view.port)) as junk:
            junk.sendall(b"\x00\xff" * 100 + b"\r\n\r\n")
            junk.recv(100)
    taken = subprocess.run([PROGRAM, "view", run, "--port", str(view.port)], capture_output=True, text=True, env=BARE)
    check("a port in use is refused in one line", taken.returncode == 1 and taken.stderr.count("\n") == 1, taken.stderr)
    check("Ctrl-C ends it without a word", view.end() == (-signal.SIGINT, ""))


def shows(root, run):
    """A program called xdg-open notes what it is to open."""
    opener = root / "bin/xdg-open"
    opener.parent.mkdir()
    opener.write_text(f'#!/bin/sh\necho "$1" >{root}/opened\nexit "${{XDG_CODE:-0}}"\n')
    opener.chmod(0o755)
    screen = {**BARE, "DISPLAY": ":9", "PATH": f"{opener.parent}:{BARE['PATH']}"}
    done = subprocess.run([PROGRAM, "view", run], capture_output=True, text=True, env=screen, timeout=60)
    check("a display shows the page", done.returncode == 0 and not done.stdout, done.stderr)
    check("it is opened by its whole name", (root / "opened").read_text().strip() == str(run / "report/index.html"))
    failing = View(run, env={**screen, "XDG_CODE": "3"})
    check("where xdg-open fails the page is served", failing.get("/" + failing.path)[0] == 200)
    failing.end()
    given = View(run, "--serve", env=screen)
    check("--serve serves it although there is a display", given.get("/" + given.path)[0] == 200)
    given.end()
    report = View(run / "report")
    check("the report's own directory will do", report.path.endswith("/index.html"))
    check("and then the run around it is not served", report.get(report.key + "/../inner.html")[0] == 404)
    report.end()


def refuses(root, run):
    (root / "empty").mkdir()
    for words, code in (((root / "empty",), 1), ((root / "none",), 1), ((run, "--port", "70000"), 2),
                        ((run, "--port", "-1"), 2), ((run, run), 2), ((), 2), ((run, "--port", "http"), 2)):
        done = subprocess.run([PROGRAM, "view", *map(str, words)], capture_output=True, text=True, env=BARE, timeout=60)
        check(f"{words} is refused", done.returncode == code and done.stderr.count("\n") == 1, done.stderr)
    no_python = subprocess.run([PROGRAM, "view", run], capture_output=True, text=True, env={**BARE, "PYTHON": "none"})
    check("without Python it says so", no_python.returncode == 77 and no_python.stderr.count("\n") == 1, no_python.stderr)


with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder).resolve()
    made = tree(place)
    for part in (serves, shows, refuses):
        part(place, made)
print("\n".join(wrong) or "all is served that may be")
sys.exit(1 if wrong else 0)
