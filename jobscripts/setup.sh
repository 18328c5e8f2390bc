# SPDX-License-Identifier: Apache-2.0
# Functions of quickstart.sh and check.sh: packages, building. To be sourced in the top folder of the source tree.
# shellcheck shell=bash disable=SC2034 # the lists are read by scripts that source this file
. jobscripts/guard.sh

# Debian 12 packages for building, for the demonstration, and for the checks only.
packages_to_build=(
    g++ cmake ninja-build pkg-config ccache git
    libboost-program-options-dev libboost-math-dev libeigen3-dev nlohmann-json3-dev libhwloc-dev
    libopen-trace-format2-dev libopenmpi-dev libpapi-dev liburing-dev libtorch-dev libgloo-dev libopenblas0-pthread
    zlib1g-dev libhdf5-dev libisal-dev libarchive-dev libpugixml-dev
)
packages_to_run=(openmpi-bin gnuplot-nox python3)
packages_to_check=(clang bpftool libbpf-dev gfortran iproute2 clang-format clang-tidy shellcheck doctest-dev libbenchmark-dev otf2-tools python3-optuna python3-otf2 python3-mpi4py python3-torch python3-h5py python3-numpy mypy python3-venv slurm-wlm munge)

say() { echo "${0##*/}: $*" >&2; }

# only_help ARGUMENT...: for --help prints help() of the script and ends it; refuses any other argument.
only_help() {
    case ${1-} in
        '') ;;
        --help | -h)
            help
            exit 0
            ;;
        *)
            say "no option '$1' (${0##*/} --help)"
            exit 2
            ;;
    esac
}

# in_lines WORD...: prints the words as a block of text.
in_lines() { fold -s -w 90 <<<"$*" | sed 's/^/     /; s/ *$//'; }

# need_packages PACKAGE...: installs missing packages. Without root rights, names them and ends the script.
need_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "not Debian: cannot check for missing packages, continuing"
        return 0
    fi
    local package
    local -a missing=()
    for package in "$@"; do
        [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
            missing+=("$package")
    done
    ((${#missing[@]} > 0)) || return 0
    if ((EUID != 0)); then
        say "these packages are missing; install them (or ask your administrator), then start again:"
        echo "    apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    say "installing ${missing[*]}"
    keep_services_down
    export DEBIAN_FRONTEND=noninteractive
    patiently dpkg --configure -a # an earlier run may have been interrupted
    patiently apt-get -q update
    patiently apt-get -q install -y --no-install-recommends "${missing[@]}"
    let_services_start
}

# patiently COMMAND...: runs COMMAND, and for up to two minutes repeats it while another installation holds the package
# manager's locks.
patiently() {
    local tries status
    for tries in {1..24}; do
        status=0
        guard_run "$@" || status=$?
        if ((status == 0)) || ! packages_are_locked; then break; fi
        ((tries > 1)) || say "another installation is running: waiting for it"
        guard_run sleep 5
    done
    return "$status"
}
packages_are_locked() { grep -qE '^/var/(lib|cache)/(dpkg|apt)/' <<<"$(lslocks --noheadings --output PATH)"; }

# Installing munge and Slurm would start them as services, or fail to where services cannot run. The tests start their
# own, so a policy-rc.d prevents that for the time of the installation; an existing policy of the machine is kept. A
# mark identifies our policy, so that one left by a killed script is removed.
services_policy=/usr/sbin/policy-rc.d
services_policy_mark="# Crosstalk's, while it installs packages"
keep_services_down() {
    let_services_start
    [[ ! -e $services_policy ]] || return 0
    guard_finally let_services_start
    printf '#!/bin/sh\n%s\nexit 101\n' "$services_policy_mark" >"$services_policy"
    chmod +x "$services_policy"
}
let_services_start() {
    if grep -qsF "$services_policy_mark" "$services_policy"; then rm -f "$services_policy"; fi
}

# Limits parallel jobs by memory: compiling a file that includes Torch takes more than 1 GiB.
limit_jobs() {
    local fits
    fits=$(awk '/^MemAvailable/ { print int($2 / 1500000) }' /proc/meminfo)
    ((fits >= 1)) || fits=1
    ((fits <= $(nproc))) || fits=$(nproc)
    export CMAKE_BUILD_PARALLEL_LEVEL=$fits
}

# Fetches a second reader of .cubex files for comparisons in tests, and the newest Optuna. Without them (no network)
# these tests are skipped, and say so.
fetch_from_pypi() {
    [[ ! -x build/python/bin/python ]] || ! build/python/bin/python -c "import optuna, pycubexr" 2>/dev/null || return 0
    guard_run python3 -m venv --clear build/python >/dev/null &&
        guard_run build/python/bin/pip install -q pycubexr optuna >/dev/null 2>&1
}
