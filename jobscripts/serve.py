#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves the files below a directory to this machine, read only, until it is ended: what crosstalk view starts.

    serve.py DIRECTORY PAGE PORT

Other users of the machine can reach a port of it, too: only addresses that begin with a key, which is drawn anew each
time, are answered. So are only requests that name this machine as their host: a page of another host that a browser
shows cannot read a report (DNS rebinding)."""
import http.server
import os
import pathlib
import secrets
import shutil
import signal
import stat
import sys
import urllib.parse

TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".svg": "image/svg+xml", ".png": "image/png", ".csv": "text/csv; charset=utf-8", ".json": "application/json",
         ".pdf": "application/pdf", ".gz": "application/gzip", ".xml": "application/xml"}
TEXTS = {".txt", ".md", ".gp", ".log", ".ini", ".dat"}
SECONDS_FOR_A_REQUEST = 30


def type_of(path):
    return "text/plain; charset=utf-8" if path.suffix in TEXTS else TYPES.get(path.suffix, "application/octet-stream")


class Files(http.server.BaseHTTPRequestHandler):
    timeout = SECONDS_FOR_A_REQUEST
    server_version = "crosstalk-view"
    sys_version = ""

    def found(self):
        """The requested file; None if it is not one below the directory."""
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path, errors="surrogateescape")
        empty, key, *names = path.split("/")
        if empty or not secrets.compare_digest(key.encode("utf-8", "replace"), self.server.key.encode()):
            return None
        if "\0" in path or any(name in ("..", ".") for name in names):
            return None
        try:
            file = self.server.directory.joinpath(*names).resolve(strict=True)
            if file.is_dir():
                file = (file / "index.html").resolve(strict=True)
        except (OSError, RuntimeError, ValueError):  # missing, too long, a loop of links
            return None
        return file if file.is_relative_to(self.server.directory) else None

    def do_HEAD(self):
        self.answer(with_content=False)

    def do_GET(self):
        self.answer(with_content=True)

    def answer(self, with_content):
        if self.headers.get("Host", "") not in self.server.hosts:
            return self.refuse(403)
        file = self.found()
        if file is None:
            return self.refuse(404)
        try:
            opened = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # a pipe would wait for a writer
        except OSError:
            return self.refuse(404)
        with os.fdopen(opened, "rb") as content:
            state = os.fstat(opened)
            if not stat.S_ISREG(state.st_mode):
                return self.refuse(404)
            self.send_response(200)
            self.send_header("Content-Type", type_of(file))
            self.send_header("Content-Length", str(state.st_size))
            self.end()
            if with_content:
                shutil.copyfileobj(content, self.wfile)

    def refuse(self, code):
        self.send_response(code)
        self.send_header("Content-Length", "0")
        self.end()

    def end(self):
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")  # the address holds the key
        self.send_header("Cache-Control", "no-store")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):  # a browser that closes the connection is no error
        pass


def main(directory, page, port):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        server = Server(("127.0.0.1", port), Files)
    except OSError as error:
        print(f"crosstalk: cannot serve at 127.0.0.1:{port}: {error.strerror}; omit --port to use a free one",
              file=sys.stderr)
        return 1
    own = server.server_address[1]
    server.directory = pathlib.Path(directory).resolve()
    server.key = secrets.token_urlsafe(16)
    server.hosts = {f"{host}:{own}" for host in ("127.0.0.1", "localhost")}
    print(f"http://127.0.0.1:{own}/{server.key}/{urllib.parse.quote(page)}\nuntil Ctrl-C", flush=True)
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
