#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes every picture of the tutorial, from runs that it makes itself.

    docs/tutorial/pictures.py [--out FOLDER] [--work FOLDER] [--only NAME]... [--small]

Reports are on synthetic runs, whose true effects are known (build/dev/tests/synthetic-run); reports on soft errors are on the
campaign in that lesson; the page of a campaign is that of results/seed-study. Chromium draws the pictures, and pngquant, if
installed, compresses them. Exit code 77: Chromium, gnuplot or synthetic-run is missing. CROSSTALK_BIN is the folder of
the programs (default build/dev/bin).
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", TREE / "build/dev/bin")).resolve()
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0",
                   PATH=f"{BIN}:{os.environ['PATH']}")
WIDTH = 800  # width of a plot in CSS pixels, as wide as GitHub's column
PAGE_WIDTH = 1060  # width of a page: in narrower ones tables are folded as on a phone
SCALE = 1.5

# Shows only the wanted part of a page, and measures its height. The page is cut between two of its blocks.
CUT = """<script>
addEventListener("load", () => {
    const wanted = WANTED, highest = HIGHEST;
    let top = 0, bottom = document.documentElement.scrollHeight;
    if (wanted) {
        const found = document.querySelector(wanted);
        if (!found) { document.title = "NOTHING"; return; }
        const box = found.getBoundingClientRect();
        if (!FROM_TOP) top = box.top + scrollY - 10;
        bottom = box.bottom + scrollY + 10;
    }
    if (bottom - top > highest) {
        const boxes = names => [...document.querySelectorAll(names)].map(block => block.getBoundingClientRect())
            .filter(box => box.height > 0).map(box => ({top: box.top + scrollY, bottom: box.bottom + scrollY}));
        const blocks = boxes("section, figure, details, h2, h3, p, ul, li, table, tr, svg, .banner, .tile");
        const parts = boxes("h1, h2, h3, p, li, td, th, svg, summary, .banner, .tile");
        const cards = boxes("section");
        const crossed = (y, by) => by.some(box => box.top < y - 1 && y + 1 < box.bottom);
        const fit = blocks.flatMap(box => [box.bottom, box.bottom + 6])
            .filter(y => y > top + 80 && y <= top + highest && !crossed(y, parts));
        const whole = fit.filter(y => y > top + highest / 2 && !crossed(y, cards));
        if (fit.length) bottom = Math.max(...(whole.length ? whole : fit));
    }
    document.documentElement.style.overflow = "hidden";
    document.body.style.position = "relative";
    document.body.style.top = -top + "px";
    document.title = "HEIGHT " + Math.ceil(bottom - top);
});
</script>"""


class Workshop:
    """Runs, reports and pictures in a scratch folder; each run is made when a picture first needs it."""

    def __init__(self, scratch, out, small):
        self.scratch, self.out, self.small = scratch, out, small
        self.browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

    def call(self, *words, codes=(0,)):
        done = subprocess.run([str(word) for word in words], cwd=self.scratch, capture_output=True, text=True, env=ENVIRONMENT)
        if done.returncode not in codes:
            sys.exit(f"pictures.py: {words[0]} ended with {done.returncode}: {done.stderr[-500:]}")
        return done.stdout

    def report(self, example, number=9):
        """The report of a synthetic run, dated November NUMBER, 2026."""
        run = self.scratch / f"{example}-{number}"
        if not run.exists():
            self.call(BIN.parent / "tests/synthetic-run", run, example, number)
            self.call(BIN / "interference", "analyse", run, "--draws", 499 if self.small else 9999)
        return run / "report"

    def browse(self, page, *options):
        return self.call(self.browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                         f"--user-data-dir={self.scratch}/browser", f"--force-device-scale-factor={SCALE}",
                         "--virtual-time-budget=5000", *options, page.as_uri())

    def picture(self, name, page, wanted=None, highest=900, width=PAGE_WIDTH, from_top=False):
        """The top of a page, or the first element that a CSS selector finds, or everything down to it, up to a maximum
        height."""
        cut = CUT.replace("WANTED", repr(wanted) if wanted else "null").replace("HIGHEST", str(highest))
        cut = cut.replace("FROM_TOP", "true" if from_top else "false")
        copy = page.with_name(f"cut-{page.name}.html")  # in the same directory, so that its links work
        text = page.read_text(encoding="utf-8")
        copy.write_text(text.replace("</body>", cut + "</body>"), encoding="utf-8")
        found = re.search(r"<title>HEIGHT (\d+)</title>", self.browse(copy, f"--window-size={width},{highest}", "--dump-dom"))
        if not found:
            sys.exit(f"pictures.py: {page} has no element '{wanted}'")
        self.browse(copy, f"--window-size={width},{found[1]}", f"--screenshot={self.out / name}")
        if shutil.which("pngquant"):
            self.call("pngquant", "--force", "--skip-if-larger", "--ext", ".png", "--strip", 64, self.out / name, codes=(0, 98))
        print(f"{name}: {self.out.joinpath(name).stat().st_size // 1024} kB", flush=True)

    def plot(self, name, drawing):
        """A plot (SVG) in the width of a picture, on white."""
        page = self.scratch / f"{name}.html"
        svg = re.sub(r"^<\?xml.*?\?>", "", drawing.read_text(encoding="utf-8"), flags=re.DOTALL)
        page.write_text("<!doctype html><meta charset='utf-8'><style>body { margin: 8px; background: #fff } svg { width: 100%; "
                        "height: auto; display: block }</style><body>" + svg + "</body>", encoding="utf-8")
        self.picture(name, page, "svg", width=WIDTH)


def report_top(shop):
    shop.picture("report-top.png", shop.report("three-noises") / "index.html", "#answer, section", 1300, from_top=True)


def untrusted_top(shop):
    shop.picture("untrusted-top.png", shop.report("faulty", 16) / "index.html", highest=420)


def plots(shop):
    report = shop.report("three-noises")
    shop.plot("effects.png", report / "effects.svg")
    shop.plot("phases.png", report / "phases.svg")
    shop.plot("timeline.png", report / "timeline.svg")
    shop.plot("phases-over-time.png", report / "phases_over_time.svg")


def slow_rank(shop):
    shop.plot("ranks.png", shop.report("slow-rank", 23) / "heat_map.svg")


def response(shop):
    shop.plot("response.png", shop.report("levels") / "response.svg")


def summary(shop):
    for example, number in (("three-noises", 9), ("faulty", 16), ("slow-rank", 23)):
        shop.report(example, number)
    shutil.rmtree(shop.scratch / "summary", ignore_errors=True)
    shop.call(BIN / "interference", "summary", "three-noises-9", "faulty-16", "slow-rank-23", "--out", "summary")
    shop.picture("summary.png", shop.scratch / "summary/index.html", highest=620)


def campaign(shop):
    page = shop.scratch / "campaign.html"
    shutil.copy(TREE / "results/seed-study/index.html", page)
    shop.picture("campaign.png", page, highest=620)


def soft_errors(shop):
    """Pictures of the soft errors in the lesson; small: with a few trials."""
    done = shop.scratch / "soft-errors"
    if not done.exists():
        lesson = (TREE / "docs/tutorial/6-a-soft-error-study.md").read_text(encoding="utf-8")
        spec = re.search(r"^```ini\n(.*?)^```", lesson, re.MULTILINE | re.DOTALL)[1]
        if shop.small:
            for key, few in (("trials", 1), ("moments", 4), ("end", 8)):
                spec = re.sub(f"(?m)^{key} = .*", f"{key} = {few}", spec)
        (shop.scratch / "soft.ini").write_text(spec)
        for words in (("plan", "soft.ini", "-o", "soft-errors"), ("run", "soft-errors"), ("collect", "soft-errors")):
            shop.call(BIN / "crosstalk", "campaign", *words, codes=(0, 3) if shop.small else (0,))
    shop.picture("outcomes.png", done / "report/index.html", highest=800)
    shop.plot("bits.png", done / "report/bit_map.svg")


PICTURES = {"report-top": report_top, "untrusted-top": untrusted_top, "plots": plots, "slow-rank": slow_rank,
            "response": response, "summary": summary, "campaign": campaign, "soft-errors": soft_errors}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=TREE / "docs/tutorial/pictures")
    parser.add_argument("--only", action="append", choices=PICTURES, help="make only pictures of this kind")
    parser.add_argument("--small", action="store_true", help="fewer draws and trials, as in tests")
    parser.add_argument("--work", type=pathlib.Path, metavar="FOLDER",
                        help="directory for runs: they are kept, and reused if they exist")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="crosstalk-pictures.") as name:
        work = asked.work or pathlib.Path(name)
        work.mkdir(parents=True, exist_ok=True)
        shop = Workshop(work.resolve(), asked.out.resolve(), asked.small)
        missing = [what for what, there in (("chromium", shop.browser), ("gnuplot", shutil.which("gnuplot")),
                                            ("synthetic-run", (BIN.parent / "tests/synthetic-run").exists())) if not there]
        if missing:
            print(f"SKIPPED: there is no {missing[0]}")
            return 77
        for make in asked.only or PICTURES:
            PICTURES[make](shop)
    return 0


if __name__ == "__main__":
    sys.exit(main())
