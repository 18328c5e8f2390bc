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
