# SPDX-License-Identifier: Apache-2.0
# Functions for tests of scripts: a scratch directory, running a command and examining its output, skipping. To be
# sourced; everything that a test starts ends with it.
# shellcheck shell=bash source-path=SCRIPTDIR/..
jobscripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$jobscripts/guard.sh"
. "$jobscripts/programs.sh"

guard_begin
scratch=$(mktemp -d "${TMPDIR:-/tmp}/crosstalk-test.XXXXXX")
guard_finally rm -rf "$scratch"

# The number of a Slurm job of this test alone: noisegen avoids the CPUs of processes with its own SLURM_JOB_ID, and the
# sandbox's jobs are numbered from 1.
# shellcheck disable=SC2034 # for tests
own_slurm_job=$((1000000 + $$))

skip() {
    echo "SKIPPED: $1"
    exit 77
}

# CPUs that this process may use, such as 0-3,8.
allowed_cpus() { sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status; }

# Prints a line for each physical core of these CPUs, with its CPUs separated by commas. Neighbouring cores are
# adjacent.
allowed_cores() {
    local range
    {
        for range in $(allowed_cpus | tr , ' '); do seq "${range%-*}" "${range#*-}"; done | sed 's/^/may,/'
        lscpu --parse=CPU,CORE,SOCKET,NODE | sed '/^#/d' | sort -t, -k4,4n -k3,3n -k2,2n -k1,1n
    } | awk -F, '
        $1 == "may" { may[$2] = 1; next }
        !may[$1] { next }
        { core = $4 "." $3 "." $2 }
        core in cpus { cpus[core] = cpus[core] "," $1; next }
        { order[++cores] = core; cpus[core] = $1 }
        END { for (i = 1; i <= cores; ++i) print cpus[order[i]] }'
}

# Sets train_cpus and noise_cpus to alternate cores; a single core goes to both.
split_cores() {
    train_cpus=$(allowed_cores | awk 'NR % 2 == 1' | paste -sd,)
    noise_cpus=$(allowed_cores | awk 'NR % 2 == 0' | paste -sd,)
    noise_cpus=${noise_cpus:-$train_cpus}
}

# needs PROGRAM...: skips the test unless the programs are found.
needs() { find_programs "$@" 2>"$scratch/needs" || skip "$(cat "$scratch/needs")"; }

# check SENTENCE COMMAND...: SENTENCE must be true, which holds if COMMAND succeeds.
check() {
    local sentence=$1
    shift
    "$@" >"$scratch/check.log" 2>&1 || broken "$sentence" "$(cat "$scratch/check.log")"
}

broken() {
    echo "NOT TRUE: $1"
    [[ -z ${2:-} ]] || echo "$2"
    exit 1
}

# run COMMAND...: leaves the exit code in $status, and the output in $scratch/out and $scratch/err.
run() {
    status=0
    guard_run "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
}

# refused STATUS WORDS COMMAND...: COMMAND must exit with STATUS and print one line that contains WORDS.
refused() {
    local expected=$1 words=$2
    shift 2
    run "$@"
    ((status == expected)) || broken "'$*' ends with $expected" "it ended with $status: $(cat "$scratch/err")"
    (($(wc -l <"$scratch/err") == 1)) || broken "'$*' says why in one line" "$(cat "$scratch/err")"
    grep -q -- "$words" "$scratch/err" || broken "'$*' says '$words'" "$(cat "$scratch/err")"
}

# within SECONDS COMMAND...: repeats COMMAND until it succeeds, for at most SECONDS.
within() {
    local end_us=$((${EPOCHREALTIME/[.,]/} + $1 * 1000000))
    shift
    until "$@"; do
        ((${EPOCHREALTIME/[.,]/} < end_us)) || return 1
        sleep 0.1
    done
}

# on_virtual_nodes ARGUMENTS: runs this script with ARGUMENTS on the front of the virtual nodes on which Slurm runs, and
# exits with its code; on the front itself it returns immediately.
on_virtual_nodes() {
    local note=${CROSSTALK_SANDBOX_NOTE:?}.nodes code=0
    [[ $CROSSTALK_SANDBOX_NOTE != *.nodes ]] || return 0
    [[ -f $note ]] || skip "no Slurm on virtual nodes here"
    CROSSTALK_SANDBOX_NOTE=$note guard_run "$jobscripts/virtual-nodes.sh" run "$(cat "$note").nodes" front "$0" "$@" || code=$?
    exit "$code"
}

# fresh_debian ROOT PACKAGE,PACKAGE...: makes a Debian 12 with these and the base packages, from this machine's mirror;
# skips the test if that fails.
fresh_debian() {
    local root=$1 packages=$2 sources=/etc/apt/sources.list.d/debian.sources mirror
    ((EUID == 0)) || skip "needs root, to make another root"
    needs debootstrap unshare
    mirror=$(awk '/^URIs:/ { print $2; exit }' "$sources" 2>/dev/null) || true
    [[ -n $mirror ]] || skip "no $sources says where packages come from"
    guard_run debootstrap --variant=minbase --include="$packages" bookworm "$root" "$mirror" >"$scratch/debootstrap.log" 2>&1 ||
        skip "debootstrap makes no root here: $(tail -n 1 "$scratch/debootstrap.log")"
    cp "$sources" "$root/etc/apt/sources.list.d/"
    rm -f "$root/etc/apt/sources.list"
    apt-config dump | grep -i '^Acquire::.*proxy' >"$root/etc/apt/apt.conf.d/99proxy" || true
    cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
    printf '127.0.0.1\tlocalhost\n127.0.1.1\t%s\n' "$(hostname)" >"$root/etc/hosts"  # like Debian's installer
}

# in_root ROOT COMMAND...: runs COMMAND with its own mounts and processes, which end with it. The shell is their first
# process and reaps orphans, as init does.
in_root() {
    # shellcheck disable=SC2016 # the words are the inner shell's
    guard_run unshare --mount --pid --fork --kill-child bash -euc '
        mount -t proc proc "$0/proc"
        for folder in sys dev; do mount --rbind "/$folder" "$0/$folder"; done
        chroot "$0" "$@" <&0 &
        wait $!' "$@"
}

rows_of() { # without the header; 0 without a table
    local rows=0
    [[ ! -f $1 ]] || rows=$(wc -l <"$1")
    echo $((rows > 0 ? rows - 1 : 0))
}
rows_reach() { (($(rows_of "$1") >= $2)); }

# whole_csv FILE: checks that a CSV ends with a complete row, and that all rows are as long as the header.
whole_csv() {
    [[ -s $1 && -z $(tail -c 1 "$1") ]] && awk -F, 'NR == 1 { width = NF } NF != width { exit 1 }' "$1"
}

# sound_or_refused: checks that an archive is complete, or refused with one clear line.
sound_or_refused() {
    run trace-info "$1"
    ((status == 0)) || { ((status == 1)) && (($(wc -l <"$scratch/err") == 1)); }
}

# with_variable NAME=VALUE: prints the ids of the processes started with this environment variable.
with_variable() {
    local file
    # shellcheck disable=SC2013 # process ids hold no blanks
    for file in $(env -u "${1%%=*}" grep -lsz -- "^$1\$" /proc/[0-9]*/environ); do
        file=${file#/proc/}
        echo "${file%/environ}"
    done
}
none_with_variable() { [[ -z $(with_variable "$1") ]]; }

# described PIDS: prints what the processes are, for messages.
described() {
    local pid
    for pid in $1; do
        echo "$pid $(sed -n 's/^State:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null): $(tr '\0' ' ' <"/proc/$pid/cmdline")"
    done
}
