#!/usr/bin/env bash
# Do the controls hold on this machine? Runs with a known delay and a placebo, many times, and how often the intervals
# contained the truth.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/guard.sh"

help() {
    cat <<'TEXT'
controls.sh: how often the intervals of known effects contain the truth on this machine

  controls.sh [option...]

  --runs N          runs of each victim                                              [10]
  --victim VICTIM   emulated (computing leaves the CPU idle), gemm (it does not), resnet18 or all    [all]
  --duration TIME   of each run's training, in seconds                               [120s]
  --delay SHARE     of the control delay, in percent of a quiet step                 [5%]
  --schedule S      what noise does besides, as local.sh has it   [a rotation with all controls]
  --work DIR        the runs' directories; a run that is complete is not repeated    [build/controls]
  --out DIR         VICTIM.csv (a row a run) and summary.txt                         [results/controls]

Exit codes: 0 fine, 1 a run failed, 2 wrong usage.
TEXT
}

say() { echo "controls.sh: $*" >&2; }
fail() { say "$2"; exit "$1"; }

runs=10 victim=all duration=120s delay=5% work=build/controls out=results/controls
schedule='rotation(memory.stream, network.exchange, io.write, placebo, control.delay, control.sham, control.pause; chip=auto)'
while (($# > 0)); do
    case $1 in
        --help | -h) help; exit 0 ;;
        --runs | --victim | --duration | --delay | --schedule | --work | --out)
            (($# >= 2)) || fail 2 "$1 needs a value"
            declare "${1#--}=$2"
            shift 2
            ;;
        *) fail 2 "no option '$1' (controls.sh --help shows all)" ;;
    esac
done
[[ $runs =~ ^[1-9][0-9]{0,3}$ ]] || fail 2 "--runs: '$runs' is not a number of runs"
case $victim in
    all) victims=(emulated gemm resnet18) ;;
    emulated | gemm | resnet18) victims=("$victim") ;;
    *) fail 2 "no victim '$victim': emulated, gemm, resnet18 or all" ;;
esac

# What each victim is.
declare -A model=([emulated]='emulated[compute=80ms,gradients=16MiB]'
    [gemm]='emulated[compute=80ms,gradients=16MiB,device=gemm]' [resnet18]='resnet18[width=32]')
declare -A data=([emulated]=synthetic [gemm]=synthetic [resnet18]=digits)

complete() { grep -qs '"exit_code": 0' "$1/status.json"; }

# One row of VICTIM.csv from a run's verdict.json: the values of the two controls, as they stand there.
row_of() {
    tr -d ' \n' <"$3/report/verdict.json" | awk -v victim="$1" -v run="$2" '
        # The text of the object that follows a key.
        function object(text, key) {
            if (!(at = index(text, "\"" key "\":{"))) return ""
            text = substr(text, at + length(key) + 3)
            return text
        }
        function value(text, key) {
            text = substr(text, 1, index(text, "}"))
            if (!match(text, "\"" key "\":[^,}]*")) return ""
            return substr(text, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
        }
        {
            controls = object($0, "controls")
            placebo = object(controls, "placebo")
            delay = object(controls, "delay")
            pause = object(controls, "pause")
            if (value(pause, "judged") != "true") pause = ""
            match($0, "\"quiet_step_ms\":[^,}]*")
            step = substr($0, RSTART + 16, RLENGTH - 16)
            match($0, "\"trustworthy\":[^,}]*")
            trustworthy = substr($0, RSTART + 14, RLENGTH - 14)
            print victim "," run "," step "," value(placebo, "effect_percent") "," value(placebo, "low_percent") "," \
                value(placebo, "high_percent") "," value(delay, "effect_percent") "," value(delay, "low_percent") "," \
                value(delay, "high_percent") "," value(delay, "true_percent") "," trustworthy "," \
                value(pause, "effect_percent") "," value(pause, "low_percent") "," value(pause, "high_percent") "," \
                value(pause, "true_percent")
        }'
}

# How often, and what all runs together say: the mean over runs with Student's interval, a run being one observation.
summary_of() {
    awk -F, -v victim="$1" '
        BEGIN { split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228 2.201 2.179 2.160 2.145 2.131 " \
                      "2.120 2.110 2.101 2.093 2.086 2.080 2.074 2.069 2.064 2.060 2.056 2.052 2.048 2.045 2.042", t, " ") }
        function t975(df) { return df in t ? t[df] : 1.96 + 2.4 / df }
        function pooled(what, sum, squares, n,   mean, half) {
            if (n < 2) { printf "  %s, pooled: fewer than two runs\n", what; return }
            mean = sum / n
            half = t975(n - 1) * sqrt((squares - n * mean * mean) / (n - 1) / n)
            printf "  %s, pooled: %+.3f %% [%+.3f, %+.3f]: %s\n", what, mean, mean - half, mean + half, \
                (mean - half <= 0 && mean + half >= 0) ? "contains 0" : "does NOT contain 0"
        }
        NR == 1 { next }
        {
            ++n
            step += $3
            trusted += $11 == "true"
        }
        NR > 1 && $4 != "" {
            ++placebos
            placebo += $4; placebo2 += $4 * $4; placebo_half += ($6 - $5) / 2; placebo_inside += ($5 <= 0 && $6 >= 0)
        }
        # A delay that the training never made says nothing.
        NR > 1 && $10 > 0 {
            ++connected
            off = $7 - $10; truth += $10
            delay += off; delay2 += off * off; delay_half += ($9 - $8) / 2; delay_inside += ($8 <= $10 && $9 >= $10)
        }
        # A pause is judged only where computing stops with the process.
        NR > 1 && $15 > 0 {
            ++paused
            off = $12 - $15; stopped += $15
            pause += off; pause2 += off * off; pause_half += ($14 - $13) / 2; pause_inside += ($13 <= $15 && $14 >= $15)
        }
        END {
            if (n == 0) { print victim ": no run is complete"; exit }
            printf "%s: %d runs, quiet step %.1f ms, %d of them trustworthy\n", victim, n, step / n, trusted
            if (connected < n) printf "  control delay: not connected in %d of %d, which are left out\n", n - connected, n
            if (connected)
                printf "  control delay, true value %.3f %% (mean): inside the 95 %% interval in %d of %d, half width %.3f %% (mean)\n", \
                    truth / connected, delay_inside, connected, delay_half / connected
            pooled("delay measured minus true", delay, delay2, connected)
            if (paused) {
                printf "  control pause, true value %.3f %% (mean): inside the 95 %% interval in %d of %d, half width %.3f %% (mean)\n", \
                    stopped / paused, pause_inside, paused, pause_half / paused
                pooled("pause measured minus true", pause, pause2, paused)
            }
            if (placebos)
                printf "  placebo: 0 inside the 95 %% interval in %d of %d, half width %.3f %% (mean)\n", \
                    placebo_inside, placebos, placebo_half / placebos
            pooled("placebo", placebo, placebo2, placebos)
        }' "$out/$1.csv"
}

[[ $work != -* ]] || work=./$work
[[ $out != -* ]] || out=./$out
guard_begin
mkdir -p "$work" "$out"
for ((run = 1; run <= runs; ++run)); do
    # Victims take turns, so that a drift of the machine meets both.
    for victim in "${victims[@]}"; do
        dir=$work/$victim.$run
        if complete "$dir"; then continue; fi
        if [[ -e $dir ]]; then
            number=1
            while [[ -e $dir.incomplete.$number ]]; do number=$((number + 1)); done
            mv "$dir" "$dir.incomplete.$number"
        fi
        say "$victim, run $run of $runs"
        guard_run "$here/local.sh" --out "$dir" --model "${model[$victim]}" --data "${data[$victim]}" \
            --duration "$duration" --control-delay "$delay" --schedule "$schedule" --seed "$run" >/dev/null ||
            fail 1 "$victim, run $run failed: see $dir/log (what is complete is kept; start again to go on)"
    done
done

for victim in "${victims[@]}"; do
    {
        echo "victim,run,quiet_step_ms,placebo_percent,placebo_low_percent,placebo_high_percent,delay_percent,delay_low_percent,delay_high_percent,delay_true_percent,trustworthy,pause_percent,pause_low_percent,pause_high_percent,pause_true_percent"
        for ((run = 1; run <= runs; ++run)); do row_of "$victim" "$run" "$work/$victim.$run"; done
    } >"$out/$victim.csv"
done
for victim in emulated gemm resnet18; do
    [[ ! -f $out/$victim.csv ]] || summary_of "$victim"
done | tee "$out/summary.txt"
