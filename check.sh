#!/usr/bin/env bash
# Builds everything with sanitizers and warnings as errors, and runs all tests. On a fresh Debian 12 the only command
# needed. ctest's summary is the last thing printed; the exit code is 0 if all is well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. jobscripts/setup.sh

guard_begin
need_packages "${packages_to_build[@]}" "${packages_to_run[@]}" "${packages_to_check[@]}"
limit_jobs
fetch_digits || say "tests with real images are skipped"
fetch_pycubexr || say "tests with pycubexr are skipped"
# What `cmake --workflow --preset dev` does; but that takes a build that was killed for one that went well.
guard_run cmake --preset dev
guard_run cmake --build --preset dev
guard_run ctest --preset dev
