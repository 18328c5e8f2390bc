#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# quickstart.sh with Crosstalk installed: it builds nothing, measures with the installed programs, and says so. The
# programs are stubs that log their arguments; clean_root_test.sh tests building.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
mkdir "$scratch/tree" "$scratch/bin"
cp -r "$jobscripts" "$jobscripts/../quickstart.sh" "$scratch/tree/"
for program in crosstalk noisegen ddl-train interference trace-os mpirun; do
    # shellcheck disable=SC2016 # the words are the stand-in's
    printf '#!/bin/sh\necho "${0##*/} $*" >>%q\nexit "${ENDS_WITH:-0}"\n' "$scratch/asked" >"$scratch/bin/$program"
    chmod +x "$scratch/bin/$program"
done
export PATH=$scratch/bin:$PATH
run "$scratch/tree/quickstart.sh"
((status == 0)) || broken "it ends well" "it ended with $status: $(cat "$scratch/err")"
check "it says whose programs it uses" grep -q "using the programs installed in $scratch/bin " "$scratch/err"
check "it shows what a neighbour takes" grep -q '^noisegen probe memory.stream' "$scratch/asked"
check "it measures a training" grep -Eq '^crosstalk run .*--out=results/quickstart .*-- mpirun -n [12] ddl-train' "$scratch/asked"
check "it ends when decided, or soon" grep -q '^crosstalk run .*--until=decided .*--max-duration=5min\|--max-duration=5min .*--until=decided' "$scratch/asked"
check "it builds nothing" test ! -e "$scratch/tree/build"
mkdir -p "$scratch/tree/results/quickstart"
run env ENDS_WITH=3 "$scratch/tree/quickstart.sh"
((status == 3)) || broken "it ends as the measurement does" "it ended with $status: $(cat "$scratch/err")"
check "an earlier result is kept" test -d "$scratch/tree/results/quickstart.1"
