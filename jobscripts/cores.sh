# Which cores a training and its noise get on this machine. To be sourced. co-schedule.sbatch has a copy of these
# functions, because it needs nothing beside it.
# shellcheck shell=bash

# is_cpu_list TEXT: such as 0-3,8. Four digits hold every CPU that Linux can have, and bound what is counted out.
is_cpu_list() {
    [[ $1 =~ ^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$ ]]
}

# each_cpu LIST: "0-3,8" as one CPU a line.
each_cpu() {
    local range
    for range in ${1//,/ }; do seq "${range%-*}" "${range#*-}"; done | sort -nu
}

# What this process may use, such as 0-3,8.
allowed_cpus() {
    sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status
}

# allowed_cores [CPUS [TAKEN]]: one line per physical core among CPUS (default: all that this process may use), with its
# CPUs separated by commas; a core with a CPU in TAKEN is left out. Neighbours stand together.
allowed_cores() {
    {
        each_cpu "${1:-$(allowed_cpus)}" | sed 's/^/may,/'
        each_cpu "${2:-}" | sed 's/^/taken,/'
        lscpu --parse=CPU,CORE,SOCKET,NODE | sed '/^#/d' | sort -t, -k4,4n -k3,3n -k2,2n -k1,1n
    } | awk -F, '
        $1 == "may" || $1 == "taken" { is[$1, $2] = 1; next }
        { core = $4 "." $3 "." $2 }
        is["taken", $1] { left_out[core] = 1 }
        !is["may", $1] { next }
        core in cpus { cpus[core] = cpus[core] "," $1; next }
        { order[++cores] = core; cpus[core] = $1 }
        END { for (i = 1; i <= cores; ++i) if (!left_out[order[i]]) print cpus[order[i]] }'
}

# shellcheck disable=SC2120 # both are optional
# split_cores [TRAIN_CPUS [NOISE_CPUS]]: sets train_cpus and noise_cpus to what is given. A list that is not given is
# the cores that the other one leaves, and empty if that is none. With neither given, cores are dealt out in turn, so
# that training and noise share every socket and every memory controller, as they do on a node whose idle cores are
# given away; a single core goes to both.
split_cores() {
    train_cpus=${1:-}
    noise_cpus=${2:-}
    case ${1:+train}${2:+noise} in
        train) noise_cpus=$(allowed_cores '' "$train_cpus" | paste -sd,) ;;
        noise) train_cpus=$(allowed_cores '' "$noise_cpus" | paste -sd,) ;;
        '')
            train_cpus=$(allowed_cores | awk 'NR % 2 == 1' | paste -sd,)
            noise_cpus=$(allowed_cores | awk 'NR % 2 == 0' | paste -sd,)
            noise_cpus=${noise_cpus:-$train_cpus}
            ;;
    esac
}

# common_cpus LIST LIST: what is in both.
common_cpus() {
    { each_cpu "$1" && each_cpu "$2"; } | sort -n | uniq -d | paste -sd,
}

# near_gpus: of each GPU that this process may use a line with the CPUs near it, in the order of their places on the PCI
# bus (CUDA_DEVICE_ORDER=PCI_BUS_ID). The kernel says them; hwloc and NVML have them from there.
near_gpus() {
    local index uuid id near visible=",${CUDA_VISIBLE_DEVICES:-all},"
    command -v nvidia-smi >/dev/null || return 0
    while IFS=', ' read -r index uuid id; do
        [[ $visible == ,all, || $visible == *",$index,"* || $visible == *",$uuid,"* ]] || continue
        [[ ${id,,} =~ ^[0-9a-f]{4}([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$ ]] || continue
        near=$(cat "${CROSSTALK_SYS:-/sys}/bus/pci/devices/${BASH_REMATCH[1]}/local_cpulist" 2>/dev/null) || true
        if is_cpu_list "$near"; then echo "$near"; else allowed_cpus; fi
    done < <(nvidia-smi --query-gpu=index,uuid,pci.bus_id --format=csv,noheader)
}

# split_near TRAIN_CPUS NOISE_CPUS NEAR...: as split_cores, with cores of its own for each rank: NEAR are the CPUs near
# the GPU of each. Sets rank_cpus to a list for each, train_cpus to all of these, noise_cpus to what is left if it is not
# given. With neither given ranks get every other core near their GPU. Fails where a rank gets none.
split_near() {
    local given=$1 noise=$2 may rank other sharers before from cores
    shift 2
    local near=("$@")
    rank_cpus=()
    for rank in "${!near[@]}"; do
        sharers=0 before=0
        for other in "${!near[@]}"; do
            [[ ${near[other]} == "${near[rank]}" ]] || continue
            sharers=$((sharers + 1))
            ((other >= rank)) || before=$((before + 1))
        done
        may=$(common_cpus "${given:-$(allowed_cpus)}" "${near[rank]}")
        [[ -n $may ]] || return 1
        mapfile -t cores < <(allowed_cores "$may" "$noise" | awk -v every="${given:+1}${noise:+1}" 'every || NR % 2 == 1')
        from=$((before * ${#cores[@]} / sharers))
        cores=("${cores[@]:from:(before + 1) * ${#cores[@]} / sharers - from}")
        ((${#cores[@]} > 0)) || return 1
        rank_cpus+=("$(IFS=, && echo "${cores[*]}")")
    done
    train_cpus=$(IFS=, && echo "${rank_cpus[*]}")
    noise_cpus=${noise:-$(allowed_cores '' "$train_cpus" | paste -sd,)}
}
