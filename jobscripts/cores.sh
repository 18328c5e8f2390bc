# Which cores a training and its noise get on this machine. To be sourced.
# shellcheck shell=bash

# allowed_cores [CPUS]: one line per physical core among CPUS (default: all that this process may use), with its CPUs
# separated by commas. Neighbours stand together.
allowed_cores() {
    local allowed=${1:-}
    [[ -n $allowed ]] || allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
    lscpu --parse=CPU,CORE,SOCKET,NODE | sort -t, -k4,4n -k3,3n -k2,2n -k1,1n | awk -F, -v allowed="$allowed" '
        BEGIN {
            ranges = split(allowed, range, ",")
            for (i = 1; i <= ranges; ++i) {
                ends = split(range[i], end, "-")
                for (cpu = end[1]; cpu <= end[ends]; ++cpu) may[cpu + 0] = 1
            }
        }
        /^#/ || !($1 + 0 in may) { next }
        {
            core = $4 "." $3 "." $2
            if (!(core in cpus)) {
                order[++cores] = core
                cpus[core] = $1
            } else cpus[core] = cpus[core] "," $1
        }
        END { for (i = 1; i <= cores; ++i) print cpus[order[i]] }'
}

# Deals the cores out in turn, so that training and noise share every socket and every memory controller, as they do on
# a node whose idle cores are given away. Sets train_cpus, noise_cpus (lists) and train_cores, noise_cores (numbers).
# With a single core both get it.
split_cores() {
    local -a cores
    local i
    mapfile -t cores < <(allowed_cores "")
    ((${#cores[@]} > 0)) || { echo "cannot find out which CPUs may be used" >&2; return 1; }
    train_cpus='' noise_cpus='' train_cores=0 noise_cores=0
    for ((i = 0; i < ${#cores[@]}; ++i)); do
        if ((i % 2 == 0)); then
            train_cpus+=${train_cpus:+,}${cores[i]}
            train_cores=$((train_cores + 1))
        else
            noise_cpus+=${noise_cpus:+,}${cores[i]}
            noise_cores=$((noise_cores + 1))
        fi
    done
    if ((noise_cores == 0)); then
        noise_cpus=$train_cpus
        noise_cores=$train_cores
    fi
}
