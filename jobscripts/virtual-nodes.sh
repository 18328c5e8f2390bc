#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two to four virtual nodes on this machine, for tests: each has its own host name, loopback, network, process numbers,
# shared memory and clock. A fifth place, the front, is where mpirun and Slurm's controller run.
#
#   virtual-nodes.sh start DIR [--nodes 2] [--rate 1gbit] [--delay TIME] [--clocks 1000,2000,3000,4000]
#                                       starts n1, n2 .. with this send rate and delay, and clocks that are ahead of this
#                                       machine's by these numbers of seconds; --delay needs the kernel's netem
#   virtual-nodes.sh run DIR NODE COMMAND...    runs COMMAND on that node, or on the `front`
#   virtual-nodes.sh env DIR            prints, for eval, the settings by which mpirun on the front starts ranks on the nodes
#   virtual-nodes.sh status DIR         prints the nodes; exit code 1 if they are not up
#   virtual-nodes.sh stop DIR           ends all processes on them, and removes DIR's files
#
# The nodes share this machine's cores and files, so they can test that something works, but not its speed. They end
# with the files in DIR. Everything is done by namespaces; this machine's network is not touched.
# Exit codes: 0 fine, 1 failed, 2 wrong usage, 77 not possible here; those of COMMAND.
set -euo pipefail

PATH=$PATH:/usr/sbin:/sbin
self=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/$(basename "${BASH_SOURCE[0]}")
. "$(dirname "$self")/await.sh"
network=10.77.0

say() { echo "virtual-nodes: $*" >&2; }
fail() { say "$2"; exit "$1"; }
usage() { fail 2 "$1 (virtual-nodes.sh --help)"; }

# Is the process this user's and not in another user's namespace? Any user may create processes with such an environment
# as number 1 of a namespace, and programs must not be run there.
made_here() { [[ -O /proc/$1 && /proc/$1/ns/user -ef /proc/self/ns/user ]]; }

# first_process NODE: PID of the node's first process in this namespace. When it ends, the kernel ends all others of the
# node; when that of the front ends, those of all nodes.
first_process() {
    local file pid
    # shellcheck disable=SC2013 # process ids hold no blanks
    for file in $(grep -lsz -- "^CROSSTALK_VIRTUAL_NODE=$dir/$1\$" /proc/[0-9]*/environ); do
        pid=${file//[^0-9]/}
        # NSpid lists the numbers of a process from the outermost to its own namespace.
        if made_here "$pid" && grep -qs '^NSpid:.*[[:space:]]1$' "/proc/$pid/status"; then
            echo "$pid"
            return
        fi
    done
    return 1
}

# ------------------------------------------------------------------------------------------------ inside the namespaces
# hold NAME PLACES...: creates the namespaces of one node; PLACES are further options of unshare.
hold() {
    local name=$1
    shift
    env -i PATH="$PATH" CROSSTALK_VIRTUAL_NODE="$dir/$name" \
        unshare --net --uts --ipc --mount --pid --fork --kill-child --mount-proc "$@" "$self" be "$dir" "$name"
}

# Runs as the first process of a node: sets the node up, then reaps orphans and waits for its end.
be() {
    hostname "$1"
    ip link set lo up
    mount -t tmpfs -o mode=1777 shm /dev/shm
    mount --bind "$dir/hosts" /etc/hosts
    if [[ $1 == front ]]; then build_nodes; fi
    touch "$dir/$1.up"
    while [[ -e $dir/hosts ]]; do sleep 1; done
}

# Runs on the front: creates a bridge, and a virtual cable to each node.
build_nodes() {
    local number
    ip link add name bridge type bridge
    ip link set bridge up
    ip address add "$network.254/24" dev bridge
    for ((number = 1; number <= nodes; ++number)); do build_node "$number"; done
}

build_node() {
    local name=n$1 ahead pid
    ahead=$(cut -d, -f"$1" <<<"$clocks")
    hold "$name" --time --monotonic "$ahead" --boottime "$ahead" &
    await 10 test -e "$dir/$name.up"
    pid=$(first_process "$name")
    ip link add name "$name" type veth peer name eth0 netns "$pid"
    ip link set "$name" master bridge up
    on "$name" ip address add "$network.$1/24" dev eth0
    on "$name" ip link set eth0 up
    slow_down "$name"
}

# Packets that a node sends wait in its own queue: netem delays and limits; tbf, which more kernels have, only limits.
slow_down() {
    if [[ -n $delay ]]; then
        on "$1" tc qdisc add dev eth0 root netem delay "$delay" rate "$rate"
    else
        on "$1" tc qdisc add dev eth0 root tbf rate "$rate" burst 256kb latency 50ms
    fi
}

# on NODE COMMAND...: runs COMMAND on the node; it ends with its parent process.
on() {
    local pid
    pid=$(first_process "$1") || fail 1 "no node '$1' is up in $dir (virtual-nodes.sh status DIR)"
    shift
    nsenter --target "$pid" --mount --uts --ipc --net --pid --time \
        env --chdir="$PWD" setpriv --pdeathsig TERM "$@"
}

# ------------------------------------------------------------------------------------------------ from outside
check_options() {
    [[ $nodes =~ ^[2-4]$ ]] || usage "--nodes: '$nodes' is not 2, 3 or 4"
    [[ $delay =~ ^([0-9]+(us|ms))?$ ]] || usage "--delay: '$delay' is not a time such as 50us"
    [[ $rate =~ ^[1-9][0-9]*(kbit|mbit|gbit)$ ]] || usage "--rate: '$rate' is not a rate such as 1gbit"
    [[ $clocks =~ ^[0-9]{1,8}(,[0-9]{1,8}){1,3}$ ]] || usage "--clocks: '$clocks' are not seconds such as 1000,2000"
    (($(tr ',' '\n' <<<"$clocks" | wc -l) >= nodes)) || usage "--clocks: '$clocks' has fewer values than $nodes nodes"
    [[ $dir =~ ^[[:alnum:]/._+-]+$ ]] || usage "'$dir': give a path of letters, digits, and . _ + -"
}

start() {
    local program number
    for program in unshare nsenter setpriv ip tc; do
        command -v "$program" >/dev/null || fail 77 "virtual nodes are not available: $program is missing (Debian: util-linux and iproute2)"
    done
    end_nodes # ends nodes of an earlier start
    mkdir -p "$dir"
    {
        echo "127.0.0.1 localhost"
        echo "$network.254 front"
        for ((number = 1; number <= nodes; ++number)); do echo "$network.$number n$number"; done
    } >"$dir/hosts"
    printf '%s=%q\n' nodes "$nodes" delay "$delay" rate "$rate" clocks "$clocks" >"$dir/settings"
    # mpirun starts its daemons by this script, as by ssh: the words after the node are for a shell.
    # shellcheck disable=SC2016 # they are for that script
    printf '#!/bin/sh\nnode=$1\nshift\nexec %q run %q "$node" sh -c "$*"\n' "$self" "$dir" >"$dir/rsh"
    chmod +x "$dir/rsh"

    trap 'end_nodes; remove_files' EXIT
    hold front </dev/null >"$dir/log" 2>&1 &
    await 30 settled $! || true
    [[ -e $dir/front.up ]] || fail 77 "virtual nodes are not available: $(grep -v '^+' "$dir/log" | head -n 1)"
    trap - EXIT
    disown -a
    say "$nodes nodes are up, $rate${delay:+ and $delay} apart"
}
settled() { [[ -e $dir/front.up ]] || ! kill -0 "$1"; }

end_nodes() {
    local pid
    pid=$(first_process front) || return 0
    kill -KILL "$pid" 2>/dev/null || true
    await 10 gone || fail 1 "the nodes of $dir do not end"
}
gone() {
    local file
    # shellcheck disable=SC2013 # process ids hold no blanks
    for file in $(grep -lsz -- "^CROSSTALK_VIRTUAL_NODE=$dir/" /proc/[0-9]*/environ); do
        ! made_here "${file//[^0-9]/}" || return 1
    done
}

remove_files() {
    rm -f "$dir"/{hosts,settings,rsh,log,front.up,n[1-4].up}
    rmdir "$dir" 2>/dev/null || true
}

status() {
    local address name
    [[ -e $dir/front.up ]] || fail 1 "no nodes are up in $dir"
    while read -r address name; do
        [[ $name != localhost ]] || continue
        first_process "$name" >/dev/null || fail 1 "$name is not up"
        echo "$name $address"
    done <"$dir/hosts"
}

(($# >= 1)) || usage "no action given"
case $1 in
    --help | -h) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$self"; exit 0 ;;
esac
(($# >= 2)) || usage "no directory given"
action=$1
[[ -d $(dirname -- "$2") ]] || fail 2 "no directory $(dirname -- "$2")"
dir=$(cd -- "$(dirname -- "$2")" && pwd)/$(basename -- "$2")
shift 2

nodes=2 delay="" rate=1gbit clocks=1000,2000,3000,4000
case $action in
    start)
        while (($# > 0)); do
            [[ $1 == --@(nodes|delay|rate|clocks) ]] || usage "no option '$1'"
            (($# >= 2)) || usage "$1 needs a value"
            declare "${1#--}=$2"
            shift 2
        done
        check_options
        start
        ;;
    run)
        (($# >= 2)) || usage "no node or command given"
        on "$@"
        ;;
    env)
        [[ -x $dir/rsh ]] || fail 1 "no nodes are up in $dir"
        printf 'export OMPI_MCA_plm_rsh_agent=%q OMPI_MCA_btl=tcp,self\n' "$dir/rsh"
        ;;
    status) status ;;
    stop)
        end_nodes
        remove_files
        ;;
    be)
        # shellcheck source=/dev/null
        . "$dir/settings"
        be "$1"
        ;;
    *) usage "'$action' is not an action" ;;
esac
