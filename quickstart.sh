#!/usr/bin/env bash
# Builds Crosstalk and measures, on this machine, what noise on idle cores costs a real training. On a fresh Debian 12
# the only command needed. Ends with the verdict and the path of the report; takes about three minutes once built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. jobscripts/setup.sh

guard_begin
need_packages "${packages_to_build[@]}" "${packages_to_run[@]}"
limit_jobs
say "building (log: build/release/build.log)"
build_release() {
    mkdir -p build/release
    { cmake --preset release && cmake --build --preset release --target noisegen ddl-train interference trace-info; } \
        >build/release/build.log 2>&1
}
guard_run build_release || {
    tail -n 30 build/release/build.log >&2
    say "the build failed"
    exit 1
}

run=results/quickstart
data=digits
fetch_digits || {
    say "cannot get the real images: training on synthetic ones instead"
    data=synthetic
}

# An earlier result is kept beside the new one, numbered.
if [[ -e $run ]]; then
    number=1
    while [[ -e $run.$number ]]; do number=$((number + 1)); done
    mv "$run" "$run.$number"
    say "the earlier result is now $run.$number"
fi

# The programs just built, whatever else the machine has.
CROSSTALK_BIN=$PWD/build/release/bin guard_run jobscripts/local.sh --out "$run" --data "$data"
