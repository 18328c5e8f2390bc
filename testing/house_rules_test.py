#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks each rule in a tree of its own and checks that house_rules.py reports it."""
import pathlib
import tempfile

import house_rules

BROKEN = {
    "base/a.cpp": ('#include "noisegen/b.hpp"\n', "base may use nothing only"),
    "noisegen/b.hpp": ('#include "analysis/c.hpp"\n', "noisegen may use base, trace-tools, soft-errors only"),
    "analysis/c.hpp": ('#include <otf2/otf2.h>\n', "includes <otf2>, which only trace-tools does"),
    "trace-tools/one/d.hpp": ('#include "trace-tools/two/e.hpp"\n', "in a circle: trace-tools/one, trace-tools/two"),
    "trace-tools/two/e.hpp": ('#include "trace-tools/one/d.hpp"\n', "in a circle"),
    "trace-tools/three/in/k.hpp": ('#include "trace-tools/four/l.hpp"\n', "in a circle: trace-tools/four, trace-tools/three"),
    "trace-tools/four/l.hpp": ('#include "trace-tools/three/n.hpp"\n', "in a circle"),
    "base/o.cpp": ('#include "base/p.hpp"\n', "a header includes what includes it: base/o, base/p"),
    "base/p.hpp": ('#include "base/o.hpp"\n', "what includes it"),
    "ddl-workloads/f.cpp": ('const char* name = "bucket_ready";\n', 'types "bucket_ready"'),
    "ddl-workloads/g.cpp": ("\n" * 401, "has 401 lines"),
    "ddl-workloads/h.cpp": ('#include "testing/x.hpp"\n', "is for tests, benches and fuzzers"),
    "analysis/i.cpp": ('#include "noisegen/tests/made.hpp"\n', "belongs to testing/"),
    "results/study/j.py": ("#!/usr/bin/env python3\n", "executable if, and only if"),
}

with tempfile.TemporaryDirectory() as scratch:
    tree = pathlib.Path(scratch)
    for room in [*house_rules.BELOW, "testing", "fuzz"]:
        (tree / room).mkdir()
    assert not list(house_rules.broken(tree)), "an empty house has no broken walls"
    for file, (text, _) in BROKEN.items():
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        (tree / file).write_text(text)
    for number in range(house_rules.MOST_FILES + 1):
        (tree / f"base/m{number}.hpp").write_text("")
    found = list(house_rules.broken(tree))
    for words in [words for _, words in BROKEN.values()] + ["it wants a wall"]:
        assert any(words in line for line in found), f"nothing said: {words}\n" + "\n".join(found)
print(f"{len(BROKEN) + 1} broken walls were named")
