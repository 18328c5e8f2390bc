#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Comments and messages begin with their subject, and use the field's words.

    words_test.py TREE     one line for each comment or string literal that does not; exit code 1 if any does not
"""
import ast
import pathlib
import re
import subprocess
import sys

SOURCES = (".cpp", ".hpp", ".inc", ".c", ".h", ".cu")
WITHOUT_SUBJECT = re.compile(r"\s*// ?(Of|What|Who|Whoever|Whose|That which|So many|None of) ")
# The noun is `start`; begin events are a name of Chrome's trace format, so `begin` before `event` is no noun.
NOUN_BEGIN = re.compile(r"\b(the|an?|its|their|whose|no) begins?\b(?! events?\b| (and|or) end events?\b|\()|"
                        r"'s begins?\b|\bbegins? of\b", re.IGNORECASE)
PRIVATE = re.compile(
    r"\b(tells?|told|nobody|whoever|goes on|go on|made good|puts? aside|obeys?|hears?|wish(es)?|by itself|"
    r"the others?'|beside which|at once with|strangers?)\b", re.IGNORECASE)
# A text of an option or a message without a subject; continuations after a value begin with a blank.
FRAGMENT = re.compile(r"^(of|whoever|so many|so long) ", re.IGNORECASE)
UNUSUAL = re.compile(r"(?<!there )\b(going on|anew|is no (?!longer)[A-Za-z]|is there (twice|already)|and end$|one of them$|"
                     r"leave out|be there yet|goes with|does not go with|set aside|in the place of)")
NAMES = ["of this rank's shard"]  # in guards.csv
LONGEST_SENTENCE = 200

# Comments, raw strings, string literals and characters: the one that begins first is taken whole.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((.*?)\)\1"|"((?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)+\'', re.DOTALL)
ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\", "\\t": "\t"}


def comments(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if comment := re.search(r"(?<!\S)//.*", line):
            yield number, comment[0]


def literals(text):
    """Line and text of each string literal of C or C++, adjacent ones as one; raw strings are data, not messages."""
    began, parts, end = 0, [], 0
    for token in TOKEN.finditer(text):
        apart = bool(text[end:token.start()].strip())
        if token[3] is None:
            if token[0].startswith("/") and not apart:
                end = token.end()
            continue
        if parts and apart:
            yield text.count("\n", 0, began) + 1, "".join(parts)
            parts = []
        if not parts:
            began = token.start()
        parts.append(re.sub(r"\\.", lambda escape: ESCAPES.get(escape[0], escape[0]), token[3]))
        end = token.end()
    if parts:
        yield text.count("\n", 0, began) + 1, "".join(parts)


def python_literals(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def message_faults(text):
    if " " not in text.strip() or "<" in text or text in NAMES:  # no sentence, or markup
        return
    for rule in (PRIVATE, UNUSUAL, NOUN_BEGIN):
        if word := rule.search(text):
            yield f"'{word[0]}' is no word of the field: {text.strip()}"
    if FRAGMENT.match(text):
        yield f"begins without a subject: {text.strip()}"
    for sentence in re.split(r"(?<=[.:;?!])\s|\n", text):
        if len(sentence) > LONGEST_SENTENCE:
            yield f"{len(sentence)} characters in a sentence, at most {LONGEST_SENTENCE}: {sentence.strip()}"


def faults(path):
    if path.suffix == ".py":
        text_literals = python_literals
    else:
        text_literals = literals
        for number, comment in comments(path):
            if WITHOUT_SUBJECT.match(comment):
                yield f"{number}: begins without a subject: {comment}"
            if word := PRIVATE.search(comment) or NOUN_BEGIN.search(comment):
                yield f"{number}: '{word[0]}' is no word of the field: {comment}"
    for number, text in text_literals(path.read_text(encoding="utf-8")):
        for fault in message_faults(text):
            yield f"{number}: {fault}"


def check_the_rules():
    """Asserts that each rule finds an example of its own kind."""
    assert WITHOUT_SUBJECT.match("    // What a rank holds.") and PRIVATE.search("// as the node tells")
    two = 'fail("so many " /* "x" */ "steps"); // "not this"\nsay("a \\"b\\"", \'"\', R"(raw)");'
    assert list(literals(two)) == [(1, "so many steps"), (2, 'a "b"')], list(literals(two))
    assert list(python_literals("f('a b')")) == [(1, "a b")]
    for text in ("the job tells its steps", "report.csv is no table", "of the random order", "so many steps",
                 "print the list, and end", "from the step's begin", "begin of a slot", "word " * 41):
        assert list(message_faults(text)), text
    for text in ("without a begin event", "a begin or end event", "each begins when", "the begin() of"):
        assert not NOUN_BEGIN.search(text), text
    assert not list(message_faults(" of the time (in ")) and not list(message_faults("what:"))


def main(tree):
    check_the_rules()
    listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files"], cwd=tree, capture_output=True, text=True)
    if listed.returncode != 0:
        print("SKIPPED: not a git checkout")
        sys.exit(77)
    files = [tree / name for name in listed.stdout.splitlines()
             if (name.endswith(SOURCES) or name.startswith("python/crosstalk/") and name.endswith(".py"))
             and "/tests/" not in name]
    found = [f"{file.relative_to(tree)}:{fault}" for file in files if file.exists() for fault in faults(file)]
    print("\n".join(found) or f"comments and messages of {len(files)} files read well")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
