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

# The first two GPUs are at the first socket, the third at the second.
allowed=0-7
mkdir -p "$scratch/sys/bus/pci/devices"/0000:{17:00.0,18:00.0,ca:00.0}
export CROSSTALK_SYS=$scratch/sys
echo 0-1,4-5 | tee "$scratch/sys/bus/pci/devices"/0000:1{7,8}:00.0/local_cpulist >"$scratch/first"
echo 2-3,6-7 >"$scratch/sys/bus/pci/devices/0000:ca:00.0/local_cpulist"
nvidia-smi() {
    [[ $* == "--query-gpu=index,uuid,pci.bus_id --format=csv,noheader" ]] || return 1
    printf '%s\n' '0, GPU-a, 00000000:17:00.0' '1, GPU-b, 00000000:18:00.0' '2, GPU-c, 00000000:CA:00.0'
}
# near GPUS NEAR...: with CUDA_VISIBLE_DEVICES=GPUS these CPUs are near the GPUs
near() {
    local found
    found=$(CUDA_VISIBLE_DEVICES=$1 near_gpus | paste -sd' ')
    [[ $found == "${*:2}" ]] || { echo "near are $found"; return 1; }
}
check "the kernel says which CPUs are near a GPU" near '' 0-1,4-5 0-1,4-5 2-3,6-7
check "only GPUs of the job count" near 1,2 0-1,4-5 2-3,6-7
check "by their names, too" near GPU-c 2-3,6-7
rm "$scratch/sys/bus/pci/devices/0000:18:00.0/local_cpulist"
check "all CPUs are near a GPU of which nothing is known" near '' 0-1,4-5 0-7 2-3,6-7

# deals TRAIN NOISE RANKS [TRAIN_CPUS [NOISE_CPUS]] of that many ranks to a GPU, of which each socket has one
deals() {
    local near=() rank
    for ((rank = 0; rank < $3; ++rank)); do near+=('0-1,4-5'); done
    for ((rank = 0; rank < $3; ++rank)); do near+=('2-3,6-7'); done
    split_near "${4-}" "${5-}" "${near[@]}" || return 1
    [[ "${rank_cpus[*]}" == "$1" && $noise_cpus == "$2" ]] || { echo "ranks ${rank_cpus[*]}, noise $noise_cpus"; return 1; }
    [[ $train_cpus == "$(tr ' ' , <<<"$1")" ]] || { echo "training $train_cpus"; return 1; }
}
check "a rank gets cores near its GPU, noise what is left of both sockets" deals '0,4 2,6' 1,5,3,7 1
check "ranks share the cores that are near and given" deals '0,4 1,5 2,6 3,7' '' 2 0-7
check "they get all that noise leaves near" deals '0,4 2,6,3,7' 1 1 '' 1
check "and never one that is far" deals '0 2' 1,5,3,7 1 0,2
! deals '' '' 1 0-1 || broken "a rank without a core near its GPU is refused"
! deals '' '' 2 || broken "so are more ranks than cores"

for name in is_cpu_list each_cpu allowed_cpus allowed_cores split_cores common_cpus near_gpus split_near; do
    definition() { sed -n "/^$name() {/,/^}/p" "$jobscripts/$1"; }
    check "co-schedule.sbatch has the same $name" test "$(definition co-schedule.sbatch)" = "$(definition cores.sh)"
done
