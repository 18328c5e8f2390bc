#!/usr/bin/env bash
# Who gets which cores, on a machine of two sockets with two cores each, two threads a core: CPUs 0, 1 and their siblings
# 4, 5 are the first socket.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"

allowed=0-7
allowed_cpus() { echo "$allowed"; }
lscpu() {
    echo "# CPU,CORE,SOCKET,NODE"
    for cpu in {0..7}; do echo "$cpu,$((cpu % 4)),$((cpu % 4 / 2)),$((cpu % 4 / 2))"; done
}
# gives TRAIN NOISE [TRAIN_CPUS [NOISE_CPUS]]
gives() {
    split_cores "${@:3}"
    [[ $train_cpus == "$1" && $noise_cpus == "$2" ]] || { echo "training $train_cpus, noise $noise_cpus"; return 1; }
}

check "each gets cores of both sockets, siblings together" gives 0,4,2,6 1,5,3,7
check "noise gets what the training leaves" gives 0-1 2,6,3,7 0-1
check "the training gets what noise leaves" gives 0,4,1,5,2,6 7 '' 7
check "no core may be left" gives 0-3 '' 0-3
check "two lists are taken as they are" gives 0 4 0 4
allowed=1-3
check "only what the process may use is dealt out" gives 1,3 2
check "a core is taken even if its given CPU may not be used" gives 5 2,3 5
allowed=2
check "the only core goes to both" gives 2 2

for name in is_cpu_list each_cpu allowed_cpus allowed_cores split_cores; do
    definition() { sed -n "/^$name() {/,/^}/p" "$jobscripts/$1"; }
    check "co-schedule.sbatch has the same $name" test "$(definition co-schedule.sbatch)" = "$(definition cores.sh)"
done
