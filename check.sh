#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds everything with warnings as errors, and runs all tests. On a fresh Debian 12 the only command needed. ctest's
# summary is the last thing printed; the exit code is 0 if all is well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. jobscripts/setup.sh

help() {
    cat <<TEXT
check.sh: builds everything with warnings as errors, and runs all tests

  check.sh [--fast | --sanitize]

  --fast       skips tests that train, start Slurm or take long: some minutes once built
  --sanitize   builds with ASan and UBSan, into build/dev: takes two to three times as long

1. On Debian, installs those of these packages that are missing, with apt-get:
$(in_lines "${packages_to_build[@]}" "${packages_to_run[@]}" "${packages_to_check[@]}")
   Without root, prints the missing ones and exits. No service is started.
2. Builds into build/check, optimised, with the C++ library's assertions.
3. Runs the tests, which make noise on this machine and start trainings and a private Slurm.

Exit codes: 0 all is well, 1 or 8 something failed, 2 wrong usage.
TEXT
}
preset=check tests=check
if [[ ${1:-} == --fast ]]; then
    tests=fast
    shift
elif [[ ${1:-} == --sanitize ]]; then
    preset=dev tests=dev
    shift
fi
only_help "$@"

guard_begin
need_packages "${packages_to_build[@]}" "${packages_to_run[@]}" "${packages_to_check[@]}"
limit_jobs
fetch_from_pypi || say "tests with pycubexr and the newest Optuna are skipped"
# The same as `cmake --workflow --preset $preset`, except that a workflow treats a killed build as a success.
guard_run cmake --preset "$preset"
guard_run cmake --build --preset "$preset"
guard_run ctest --preset "$tests"
