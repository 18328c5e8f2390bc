# SPDX-License-Identifier: Apache-2.0
# Finds Crosstalk's programs, and starts MPI jobs. To be sourced.
# shellcheck shell=bash

# find_programs PROGRAM...: puts the programs' folder at the front of PATH, and fails with a message unless all are
# found. The folder is CROSSTALK_BIN, else the one of this installation or build, else PATH is unchanged.
find_programs() {
    local here folder program
    here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    for folder in "$here/../build/release/bin" "$here/../../../bin"; do
        [[ -z ${CROSSTALK_BIN:-} ]] || folder=$CROSSTALK_BIN
        if [[ -x $folder/noisegen ]]; then
            PATH=$(cd "$folder" && pwd):$PATH
            break
        fi
    done
    for program in "$@"; do
        command -v "$program" >/dev/null || {
            echo "${0##*/}: no $program: build it, or set CROSSTALK_BIN to the folder that holds the programs" >&2
            return 1
        }
    done
}

# mpi_run RANKS COMMAND...: runs mpirun on this machine, in place of the calling shell. ddl-train binds its ranks.
# mpirun ends with its parent process. Ranks get two seconds to end in good order: if one was killed, the others wait
# for it in vain, and should not live on for long.
mpi_run() {
    local ranks=$1
    shift
    if ((EUID == 0)); then
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    fi
    exec setpriv --pdeathsig TERM mpirun -n "$ranks" --oversubscribe --bind-to none \
        --mca odls_base_sigkill_timeout 2 "$@"
}
