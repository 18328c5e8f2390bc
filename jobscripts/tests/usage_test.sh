#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Wrong usage of the scripts: exit code 2, one line that says what is wrong, no file destroyed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
cd "$scratch"

refused 2 "no option '--modle'" "$jobscripts/local.sh" --modle mlp
refused 2 "needs --out DIR" "$jobscripts/local.sh"
refused 2 "model needs a value" "$jobscripts/local.sh" --out run --model
refused 2 "'two' is not a number of ranks" "$jobscripts/local.sh" --out run --ranks two
needs crosstalk mpirun
local_sh=("$jobscripts/local.sh" --out run --ranks 1)
refused 2 "--duration: 'soon'" "${local_sh[@]}" --duration soon
refused 2 "five%" "${local_sh[@]}" --control-delay five%
refused 2 "'4'" "${local_sh[@]}" --control-delay 4
refused 2 "must be more than 0%" "${local_sh[@]}" --budget 0%
refused 2 "'all'" "${local_sh[@]}" --noise-cpus all
refused 2 "leaves no core to the noise" "${local_sh[@]}" --train-cpus "$(allowed_cpus)"
refused 2 "leaves no core to the training" "${local_sh[@]}" --noise-cpus "$(allowed_cpus)"
refused 2 "both have 1:" "${local_sh[@]}" --train-cpus 0-1 --noise-cpus 1
refused 2 "did you mean memory.stream" "${local_sh[@]}" --schedule 'rotation(memory.strem, placebo; slot=1s)'
check "nothing was begun" test ! -e run
refused 2 "did you mean memory.stream" crosstalk run --dry-run --schedule 'rotation(memory.strem, placebo; slot=1s)' -- \
    ddl-train --model mlp
run crosstalk run --dry-run --out run -- ddl-train --model mlp --device cuda
check "what a training's GPU does is recorded" grep -q -- "--device cuda .*--trace-gpu" "$scratch/out"
run crosstalk run --dry-run --out run -- ddl-train --model mlp
check "where there is none it is not asked for" test "$status" = 0 -a -z "$(grep -- --trace-gpu "$scratch/out")"
mkdir -p run/noise
echo precious >run/noise/file
refused 2 "run/noise is already there" "$jobscripts/local.sh" --out run
check "the earlier run is untouched" grep -q precious run/noise/file

refused 2 "no action given" "$jobscripts/slurm-sandbox.sh"
refused 2 "no directory given" "$jobscripts/slurm-sandbox.sh" up
refused 2 "'fly' is not an action" "$jobscripts/slurm-sandbox.sh" fly box
refused 2 "'0' is not a number of nodes" "$jobscripts/slurm-sandbox.sh" up box 0
refused 1 "no sandbox in" "$jobscripts/slurm-sandbox.sh" env box
refused 1 "not up in" "$jobscripts/slurm-sandbox.sh" status box
check "nothing was made" test ! -e box


refused 2 "no option '--hlep'" "$jobscripts/../quickstart.sh" --hlep
refused 2 "not '$scratch/none'" "$jobscripts/../quickstart.sh" --libtorch "$scratch/none"
refused 2 "no option '--cuda12'" "$jobscripts/../quickstart.sh" --build --cuda12
refused 2 "no option 'fast'" "$jobscripts/../check.sh" fast

for script in local.sh slurm-sandbox.sh ../quickstart.sh ../check.sh; do
    run "$jobscripts/$script" --help
    check "$script --help ends well" test "$status" = 0
    check "$script --help prints something" test -s "$scratch/out"
done
