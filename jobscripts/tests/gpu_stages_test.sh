#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The stages of results/gpu/run.sh with stub programs: a stage that fails says why, the next one runs, and tables list
# the outcome of each.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
run_sh=$jobscripts/../results/gpu/run.sh
mkdir "$scratch/bin"
stand_in() { # NAME, its script on stdin
    { echo '#!/usr/bin/env bash' && cat; } >"$scratch/bin/$1"
    chmod +x "$scratch/bin/$1"
}
stand_in nvcc <<<'echo "Cuda compilation tools, release 13.0"'
stand_in nvidia-smi <<'TEXT'
[[ ${NO_GPU:-} != yes ]] || exit 9
[[ $1 == -L ]] && echo "GPU 0: Stand-in" || echo "Stand-in, 1.0, 1 MiB"
TEXT
stand_in dpkg-deb <<'TEXT'
mkdir -p "$3/usr/lib/pkgconfig" && echo prefix=/usr >"$3/usr/lib/pkgconfig/x.pc"
TEXT
stand_in ninja <<<'echo 1.11'
stand_in cmake <<'TEXT'
[[ $1 != --version ]] || { echo cmake 3.25; exit; }
[[ $1 == --build ]] || exit 0
[[ ${BUILD_FAILS:-} != yes ]] || exit 1
[[ ${BUILD_HANGS:-} != yes ]] || sleep 100
mkdir -p "$2/bin"
cp "$(dirname "$0")"/our-* "$2/bin/"
for program in "$2"/bin/our-*; do mv "$program" "${program/our-/}"; done
TEXT
stand_in ctest <<'TEXT'
while [[ $1 != -O ]]; do shift; done
echo "100% tests passed, 0 tests failed out of 3" | tee "$2"
TEXT
stand_in our-noisegen <<<'exit 0'
stand_in our-ddl-train <<'TEXT'
[[ $1 != --list ]] || { printf '  %s\n' resnet18 resnet50; exit; }
bits=c0ffee
[[ "$*" != *"${OTHER_BITS:-nothing}"* ]] || bits=decaf
echo "{\"mean_step_ms\":20.5,\"loss\":2.25,\"checksum\":\"$bits\"}"
TEXT
stand_in our-crosstalk <<'TEXT'
while [[ $1 != --out ]]; do shift; done
mkdir -p "$2/report"
echo factor,verdict >"$2/report/verdicts.csv"
echo factor,effect >"$2/report/effects_step.csv"
echo '"headline": "All is well, it seems",' >"$2/report/verdict.json"
exit "${RUN_ENDS:-0}"
TEXT
export PATH=$scratch/bin:$PATH WORK=$scratch/work PACKAGES=$scratch/packages RESULTS=$scratch/results
outcome_is() { # STAGE OUTCOME
    grep -q "^$1,[0-9]*,$2," "$RESULTS/stages.csv" || { cat "$RESULTS/stages.csv" "$RESULTS/logs/$1.log"; return 1; }
}

refused 2 "no stage 'nothing'" "$run_sh" nothing
run env NO_GPU=yes "$run_sh" needs packages tests
check "a stage that fails makes the exit code 1" test "$status" = 1
check "without a GPU that is said" grep -q 'needs,.*,failed,no GPU here' "$RESULTS/stages.csv"
check "without packages it says how to get them" grep -q 'packages,.*,failed,.*fetch.sh' "$RESULTS/stages.csv"
check "what needs programs is left out" outcome_is tests skipped

mkdir "$PACKAGES"
touch "$PACKAGES/otf2.deb"
run "$run_sh" needs packages build tests train quickstart designed real emulated
((status == 0)) || broken "all of these stages are fine" "$(cat "$scratch/err" "$RESULTS"/logs/*.log)"
for stage in needs packages build tests train quickstart designed real emulated; do check "$stage is fine" outcome_is "$stage" fine; done
check "packages are found where they were unpacked" grep -q "prefix=$WORK/prefix/usr" "$WORK/prefix/usr/lib/pkgconfig/x.pc"
check "each stage has a row, the last one" test "$(wc -l <"$RESULTS/stages.csv")" = 10
check "the tables of a run are kept" test -s "$RESULTS/designed-verdicts.csv" -a -s "$RESULTS/quickstart-effects_step.csv"
check "so are losses of models and strategies" test "$(grep -c ',20.5,2.25,c0ffee,' "$RESULTS/train.csv")" = 39
check "so are those of the pairs" test "$(grep -c ',20.5$' "$RESULTS/emulated.csv")" = 6
check "the README says what ran and where" grep -q '| designed | [0-9]* | fine | All is well' "$RESULTS/README.md"
check "and on what" grep -q 'GPU: Stand-in' "$RESULTS/README.md"

run env RUN_ENDS=3 "$run_sh" designed tests
check "noise that did not cover fails its stage" outcome_is designed failed
check "and the next one ran" outcome_is tests fine
run env OTHER_BITS="--strategy cycle" "$run_sh" train
check "a strategy that ends with other bits fails its stage" outcome_is train failed
run env BUILD_FAILS=yes "$run_sh" build
check "a build that fails says where to look" grep -q 'build,.*,failed,the build fails: see build.log' "$RESULTS/stages.csv"
run env BUILD_HANGS=yes LIMIT=1 "$run_sh" build
check "one that hangs is cut off" outcome_is build 'cut off after 1 s'
