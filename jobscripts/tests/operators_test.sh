#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/operators.md works as written: its files and commands in the Slurm sandbox, with a small training, a short night
# and folders of this test.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
. "$(dirname "${BASH_SOURCE[0]}")/tiny.sh"
[[ -f ${CROSSTALK_SANDBOX_NOTE:?} ]] || skip "no Slurm here"
needs crosstalk noisegen ddl-train interference python3
(($(allowed_cores | wc -l) >= 2)) || skip "needs two cores"
eval "$("$jobscripts/slurm-sandbox.sh" env "$(cat "$CROSSTALK_SANDBOX_NOTE")")"
site=$scratch/site monitoring=$scratch/prometheus
mkdir "$scratch/share" "$monitoring" "$scratch/textfiles" "$scratch/bin"
ln -s "$jobscripts" "$scratch/share/jobscripts"
ln -s "$jobscripts/monitoring" "$scratch/share/monitoring"
export CROSSTALK_BIN PATH=$CROSSTALK_BIN:$PATH
partition=$(sinfo --noheader --format=%R | head -n 1)

# Extracts the page's blocks: files into the site's folder, commands into $scratch/commands, one per line.
python3 - "$jobscripts/../docs/operators.md" "$scratch" "$partition" <<'PYTHON'
import pathlib
import re
import sys

page, scratch, partition = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
text = page.read_text(encoding="utf-8")
for there, here in (("/shared/crosstalk", scratch / "site"), ("/usr/share/crosstalk", scratch / "share"),
                    ("/etc/prometheus", scratch / "prometheus"), ("/var/lib/prometheus/node-exporter", scratch / "textfiles"),
                    ("partition=gpu", f"partition={partition}")):
    assert there in text, there
    text = text.replace(there, str(here))
commands = []
(scratch / "site").mkdir()
for match in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
    if match[1] == "sh":
        above = text[: match.start()].rstrip().rsplit("\n\n", 1)[-1]
        name = re.findall(r"`([\w.]+)`", above)[-1]
        (scratch / "site" / name).write_text(match[2], encoding="utf-8")
    else:
        commands += match[2].splitlines()
(scratch / "commands").write_text("\n".join(commands) + "\n", encoding="utf-8")
PYTHON
check "the page has the site's files" test -s "$site/site.env" -a -s "$site/nightly.sh" -a -s "$site/morning.sh" -a -s "$site/epilog.sh"

# shown WORDS: runs the command of the page that contains WORDS; each must be run once.
shown() {
    local command
    command=$(grep -F -m 1 -- "$1" "$scratch/commands") || broken "the page shows '$1'"
    grep -vxF -- "$command" "$scratch/commands" >"$scratch/left" || true
    mv "$scratch/left" "$scratch/commands"
    run bash -c "$command"
}
fine() {
    shown "$1"
    ((status == 0)) || broken "'$1' works" "it ended with $status: $(cat "$scratch/out" "$scratch/err")"
}
no_job() { [[ -z $(squeue --noheader --name=crosstalk 2>/dev/null) ]]; }

fine "mkdir -p"
fine "co-schedule.sbatch"
shown "crosstalk doctor"
((status == 0 || status == 77)) || broken "doctor examines a node" "$(cat "$scratch/err")"
{
    echo "duration=10s only= training='ddl-train --model $tiny_model --data $tiny_data --control-delay 1ms --progress yield'"
    echo "schedule='$(tiny_schedule_in "$scratch/textfiles")'"
} >>"$site/site.env"
grep -q '^only=n1,n2' "$site/site.env" || broken "a pilot names its nodes" "$(cat "$site/site.env")"

# A night with one drained node: the others are measured.
scontrol update nodename=n2 state=drain reason=test
guard_finally scontrol update nodename=n2 state=resume
fine "nightly.sh"
fine "squeue --name=crosstalk"
guard_finally scancel --quiet --name=crosstalk
check "one job, on the node that is not drained" test "$(sed -n '2,$p' "$scratch/out" | wc -l)" = 1
within 200 no_job || broken "the night ends" "$(squeue; tail -n 5 "$site"/logs/*)"
runs=("$site"/runs/*)
[[ ${#runs[@]} == 1 && ${runs[0]} == */$(date +%F).n1 ]] || broken "a run has its date and node" "${runs[*]}"
[[ -s ${runs[0]}/report/verdict.json ]] || broken "it has a report" "$(cat "${runs[0]}/status.json"; tail -n 20 "$site"/logs/*)"
shown "morning.sh"
# Such a short run may not be trustworthy: then the summary says so, and the exit code is 1.
((status == 0)) || { ((status == 1)) && grep -q -- '--fail-on unsafe,untrusted' "$scratch/err"; } ||
    broken "the summary is made" "$(cat "$scratch/out" "$scratch/err")"
check "its page is there" test -s "$site/summary/index.html"
check "Prometheus gets the node" grep -q 'crosstalk_trustworthy{.*hosts="n1".*} [01]' "$scratch/textfiles/crosstalk.prom"
for time in nightly.sh morning.sh; do
    line=$(grep -E "^[0-9]+ [0-9]+ \* \* \* sh $site/$time" "$scratch/commands") || broken "cron runs $time"
    grep -vxF -- "$line" "$scratch/commands" >"$scratch/left"
    mv "$scratch/left" "$scratch/commands"
done
fine "cp $scratch/share/monitoring/crosstalk-alerts.yml"
if command -v promtool >/dev/null; then fine "promtool check rules"; else sed -i '/^promtool/d' "$scratch/commands"; fi

# The epilog drains a node on which noise was left running.
cp "$(command -v sleep)" "$scratch/bin/noisegen"
"$scratch/bin/noisegen" 1000 &
left=$!
run env SLURMD_NODENAME=n1 sh "$site/epilog.sh"
drained() { [[ $(sinfo --noheader --nodes="$1" --format=%T) == drain* ]]; }
within 10 drained n1 || broken "noise that is left drains its node" "$(cat "$scratch/err"; sinfo --Node --long)"
kill "$left"
fine "state=resume"
is_idle() { [[ $(sinfo --noheader --nodes="$1" --format=%T | sort -u) == idle ]]; }
within 30 is_idle n1 || broken "and it takes jobs again" "$(sinfo --Node --long)"

# Running and waiting jobs are stopped, and the next night starts none.
rm -rf "${runs[0]}" "$site"/logs/*
sed -i 's/^duration=10s/duration=10min/' "$site/site.env"
run sh "$site/nightly.sh"
is_noisy() { grep -qs "noise is on" "$site"/logs/*.log; }
within 100 is_noisy || broken "a job runs" "$(squeue; cat "$site"/logs/*)"
fine "touch $site/stop"
fine "scancel --name=crosstalk --state=pending"
fine "scancel --name=crosstalk --batch --signal=TERM"
within 60 no_job || broken "the job ends" "$(squeue)"
check "it leaves its record" test -s "${runs[0]}/status.json"
run sh "$site/nightly.sh"
check "and no other is submitted" no_job
[[ ! -s $scratch/commands ]] || broken "each command of the page was run" "$(cat "$scratch/commands")"
