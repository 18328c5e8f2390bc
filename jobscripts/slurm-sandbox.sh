#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A private Slurm on this machine, for tests: munge, slurmctld and several slurmd in one directory, no systemd, no root.
#
#   slurm-sandbox.sh up DIR [NODES]   starts it with NODES virtual nodes (default 1); does nothing if it is running
#   slurm-sandbox.sh up DIR --on VIRTUAL   starts it on the nodes of virtual-nodes.sh in VIRTUAL: the controller on their
#                                     front, from which jobs are submitted, and a slurmd on each node
#   slurm-sandbox.sh env DIR          prints its environment variables: eval "$(slurm-sandbox.sh env DIR)"
#   slurm-sandbox.sh status DIR       prints its nodes; exit code 1 if it is not up
#   slurm-sandbox.sh down DIR         ends its jobs and daemons; the directory keeps the logs
#
# If only the controller or a slurmd has died, up starts it again, and jobs continue. Its nodes share this machine's
# cores, so it can test placement, signals and exit codes, but not speed. It listens on loopback only if this machine's
# name resolves to that, else on all interfaces; DIR, with munge's key and socket, is accessible to this user only.
# Exit codes: 0 fine, 1 failed, 2 wrong usage, 77 not possible here (no Slurm, or fewer than two cores).
set -euo pipefail

PATH=$PATH:/usr/sbin:/sbin

say() { echo "slurm-sandbox: $*" >&2; }
fail() { say "$2"; exit "$1"; }
usage() { fail 2 "$1 (usage: slurm-sandbox.sh up DIR [NODES | --on VIRTUAL] | env DIR | status DIR | down DIR)"; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/await.sh"

# at PLACE COMMAND...: runs COMMAND on the front or a node; directly if all nodes are this machine.
at() {
    local place=$1
    shift
    if [[ -n $virtual ]]; then "$here/virtual-nodes.sh" run "$virtual" "$place" "$@"; else "$@"; fi
}

# A zombie is not alive: where process 1 reaps slowly, a killed daemon would seem to run.
alive() {
    local state
    state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) || return 1
    [[ -n $state && $state != Z && $state != X ]]
}

# Is a process a daemon of this sandbox: does it have that name, and a path in the directory on its command line? The
# number in an old pid file may belong to another process.
is_ours() {
    [[ $(cat "/proc/$1/comm" 2>/dev/null) == "$2" ]] &&
        grep -qszF -- "=$dir/" "/proc/$1/cmdline" "/proc/$1/environ"
}

# daemon NAME: prints the daemon's process id if it runs. On a virtual node the pid file holds the number in that node's
# namespace.
daemon() {
    local own file pid
    own=$(cat "$dir/run/$1.pid" 2>/dev/null) || return 1
    [[ $own =~ ^[0-9]+$ ]] || return 1
    # shellcheck disable=SC2013 # process ids hold no blanks
    for file in $(grep -lsE "^NSpid:.*[[:space:]]$own\$" /proc/[0-9]*/status); do
        pid=${file//[^0-9]/}
        if alive "$pid" && is_ours "$pid" "${1%%-*}"; then
            echo "$pid"
            return
        fi
    done
    return 1
}

# Ends a daemon in good order, or kills it after ten seconds.
end_daemon() {
    local pid
    pid=$(daemon "$1") || return 0
    kill -TERM "$pid" 2>/dev/null || return 0
    await 10 gone "$pid" || kill -KILL "$pid" 2>/dev/null || true
}
gone() { ! alive "$1"; }

write_config() {
    local nodes=$1 port=$2 user cores memory node controller where here_is
    user=$(id -un)
    cores=$(nproc)
    memory=$(awk '/^MemTotal/ { print int($2 / 1024 / 2) }' /proc/meminfo)
    # Slurm listens on the address of this machine's name, or on all. If that address is loopback, no other machine can
    # connect.
    here_is=$(getent ahostsv4 "$(uname -n)" | awk 'NR == 1 { print $1 }') || true
    [[ $here_is == 127.* ]] || here_is=""
    controller="$(uname -n | cut -d. -f1)(${here_is:-127.0.0.1})"
    [[ -z $virtual ]] || controller=front
    mkdir -p "$dir"/{run,log,state,spool,scratch,etc}
    [[ -z $virtual ]] || echo "$virtual" >"$dir/etc/virtual"
    chmod 700 "$dir" "$dir/run" # any user who can connect to munge's socket may run jobs
    if [[ ! -s $dir/etc/munge.key ]]; then
        (umask 077 && head -c 1024 /dev/urandom >"$dir/etc/munge.key")
    fi
    # Cgroups are not used here, but slurmd looks for them at its start; the plugin for version 2 would require systemd.
    echo "CgroupPlugin=cgroup/v1" >"$dir/etc/cgroup.conf"
    {
        cat <<CONF
ClusterName=crosstalk-sandbox
SlurmctldHost=$controller
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$dir/run/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdSpoolDir=$dir/spool/%n
SlurmdPidFile=$dir/run/slurmd-%n.pid
SlurmdLogFile=$dir/log/slurmd-%n.log
# Without a separate directory per virtual node, the PMIx servers of one step would use the same one and fail.
TmpFS=$dir/scratch/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$dir/log/jobs.txt
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=5
SlurmctldTimeout=30
# A restarted controller asks nodes for their jobs only after 20 pings, of which there are three in this time: until
# then it lists jobs that were killed while it was down.
SlurmdTimeout=20
InactiveLimit=0
CONF
        [[ -z $here_is || -n $virtual ]] || echo "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny"
        for ((node = 1; node <= nodes; ++node)); do
            mkdir -p "$dir/spool/n$node" "$dir/scratch/n$node"
            where="NodeHostname=localhost NodeAddr=${here_is:-127.0.0.1} Port=$((port + node))"
            [[ -z $virtual ]] || where="NodeHostname=n$node NodeAddr=n$node Port=$((port + 1))"
            echo "NodeName=n$node $where" \
                "CPUs=$cores Boards=1 SocketsPerBoard=1 CoresPerSocket=$cores ThreadsPerCore=1 RealMemory=$memory"
        done
        echo "PartitionName=batch Nodes=n[1-$nodes] Default=YES OverSubscribe=NO MaxTime=INFINITE State=UP"
        echo "PartitionName=shared Nodes=n[1-$nodes] OverSubscribe=FORCE:4 MaxTime=INFINITE State=UP"
    } >"$dir/etc/slurm.conf"
}

all_nodes_idle() {
    [[ $(at front sinfo -h -p batch -t idle -o %D) == "$1" ]]
}

start() {
    local nodes=$1 port program
    for program in munged slurmctld slurmd srun sbatch; do
        command -v "$program" >/dev/null || fail 77 "Slurm is not available: $program is missing (Debian: slurm-wlm and munge)"
    done
    (($(nproc) >= 2)) || fail 77 "needs at least two cores, one for each of two steps"
    # Above the ports of services and below the ephemeral ones; a directory always gets the same ports.
    port=$((20000 + $(cksum <<<"$dir" | cut -d' ' -f1) % 10900))
    ((${#dir} <= 85)) || fail 2 "'$dir' is too long for the path of a socket"

    export SLURM_CONF=$dir/etc/slurm.conf
    if daemon slurmctld >/dev/null && at front scontrol ping >/dev/null 2>&1; then
        [[ $(at front sinfo -h -p batch -o %D) == "$nodes" ]] || fail 1 "it runs with another number of nodes: take it down first"
        start_nodes "$nodes"
        say "is up already"
        return
    fi
    if any_slurmd && [[ $(grep -c ^NodeName= "$SLURM_CONF") == "$nodes" ]]; then
        at front slurmctld >/dev/null 2>&1 || fail 1 "the controller does not start: $(tail -n 1 "$dir/log/slurmctld.log")"
        await 14 at front scontrol ping || fail 1 "the controller does not answer"
        start_nodes "$nodes"
        say "controller restarted"
        return
    fi
    stop # ends daemons of an earlier start
    write_config "$nodes" "$port"
    trap 'stop; say "could not start, see the logs in $dir/log"' EXIT

    # --force: accepts a directory whose parents belong to another user, since no one else uses this cluster.
    at front munged --force --num-threads=2 --key-file="$dir/etc/munge.key" --socket="$dir/run/munge.socket" \
        --pid-file="$dir/run/munged.pid" --log-file="$dir/log/munged.log" --seed-file="$dir/run/munge.seed" \
        >/dev/null 2>"$dir/log/munged.err" || { cat "$dir/log/munged.err" >&2; exit 1; }
    await 5 test -S "$dir/run/munge.socket" || exit 1

    at front slurmctld -i >/dev/null 2>&1 || { tail -n 3 "$dir/log/slurmctld.log" >&2; exit 1; }
    # A slurmd without a controller writes its pid file late and could not be found again, so the controller must answer
    # first.
    await 14 at front scontrol ping || { tail -n 3 "$dir/log/slurmctld.log" >&2; exit 1; }
    start_nodes "$nodes"
    await 20 all_nodes_idle "$nodes" || { at front sinfo >&2; exit 1; }
    trap - EXIT
    say "up with $nodes node(s) of $(nproc) cores"
}

# start_nodes NODES: starts the slurmd of each node that has none.
start_nodes() {
    local node
    for ((node = 1; node <= $1; ++node)); do
        daemon "slurmd-n$node" >/dev/null || at "n$node" slurmd -N "n$node" >/dev/null 2>&1 ||
            fail 1 "the slurmd of n$node does not start: $(tail -n 1 "$dir/log/slurmd-n$node.log")"
    done
}

any_slurmd() {
    local file name
    for file in "$dir"/run/slurmd-*.pid; do
        name=${file##*/}
        ! daemon "${name%.pid}" >/dev/null || return 0
    done
    return 1
}

stop() {
    local file name
    if [[ -f $dir/etc/slurm.conf ]] && daemon slurmctld >/dev/null; then
        # Ends jobs first, since a job's processes outlive the slurmd that started them.
        export SLURM_CONF=$dir/etc/slurm.conf
        at front scancel --user="$(id -un)" 2>/dev/null || true
        await 15 no_jobs || true
    fi
    for file in "$dir"/run/slurmd-*.pid "$dir"/run/slurmctld.pid "$dir"/run/munged.pid; do
        [[ -e $file ]] || continue
        name=${file##*/}
        end_daemon "${name%.pid}"
        rm -f "$file"
    done
    await 5 no_steps || kill_steps
}
kill_steps() {
    local step task
    for step in $(steps); do
        for task in $(pgrep -P "$step"); do kill -KILL -- "-$task" "$task" 2>/dev/null || true; done
        kill -KILL "$step" 2>/dev/null || true
    done
}
# Prints the slurmstepd processes that are still running. They have no pid file and overwrite their command line, but
# keep slurmd's working directory.
steps() {
    local process
    for process in /proc/[0-9]*; do
        if [[ $(cat "$process/comm" 2>/dev/null) == slurmstepd && $(readlink "$process/cwd") == "$dir/"* ]]; then
            echo "${process#/proc/}"
        fi
    done
}
no_steps() { [[ -z $(steps) ]]; }
no_jobs() { [[ -z $(at front squeue -h) ]]; }

(($# >= 1)) || usage "no action given"
case $1 in
    --help | -h) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 0 ;;
esac
(($# >= 2)) || usage "no directory given"
action=$1
mkdir -p -- "$(dirname -- "$2")"
dir=$(cd -- "$(dirname -- "$2")" && pwd)/$(basename -- "$2")
virtual=''
[[ ! -s $dir/etc/virtual ]] || virtual=$(cat "$dir/etc/virtual")

case $action in
    up)
        nodes=${3:-1}
        virtual=''
        rm -f "$dir/etc/virtual"
        if [[ $nodes == --on ]]; then
            [[ -x ${4:-}/rsh ]] || usage "no virtual nodes are up in '${4:-}'"
            virtual=$(cd -- "$4" && pwd)
            nodes=$("$here/virtual-nodes.sh" status "$virtual" | grep -c '^n')
        fi
        [[ $nodes =~ ^[1-9][0-9]?$ ]] || usage "'$nodes' is not a number of nodes from 1 to 99"
        start "$nodes"
        ;;
    env)
        [[ -f $dir/etc/slurm.conf ]] || fail 1 "no sandbox in $dir"
        printf 'export SLURM_CONF=%q\n' "$dir/etc/slurm.conf"
        ;;
    status)
        daemon slurmctld >/dev/null || fail 1 "not up in $dir"
        export SLURM_CONF=$dir/etc/slurm.conf
        at front scontrol ping >/dev/null 2>&1 || fail 1 "its controller does not answer"
        at front sinfo -N -p batch
        ;;
    down)
        stop
        ;;
    *) usage "'$action' is not an action" ;;
esac
