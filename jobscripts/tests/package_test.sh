#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cpack makes a Debian package: its programs run when unpacked elsewhere, and it contains all that a user needs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs cpack dpkg-deb dpkg-shlibdeps file
build=$(dirname "$CROSSTALK_BIN")
cd "$scratch"
check "a package is made" cpack --config "$build/CPackConfig.cmake" -B "$scratch"
dpkg-deb -x ./crosstalk_*.deb root
for program in crosstalk noisegen ddl-train interference trace-info trace-record; do
    [[ ! -x $CROSSTALK_BIN/$program ]] || check "$program runs" "root/usr/bin/$program" --version
    [[ ! -x $CROSSTALK_BIN/$program ]] || check "$program has a manual" test -s "root/usr/share/man/man1/$program.1"
done
for file in share/crosstalk/jobscripts/co-schedule.sbatch share/crosstalk/data/digits.csv.gz include/crosstalk_mark.h \
    share/doc/crosstalk/LICENSE share/doc/crosstalk/docs/campaign.md share/crosstalk/specs/nightly.ini \
    lib/cmake/crosstalk/crosstalk-config.cmake share/bash-completion/completions/noisegen; do
    check "$file is there" test -s "root/usr/$file"
done
module=$(realpath --relative-to=root/usr/share root/usr/lib/python3/dist-packages/crosstalk)
check "Python finds the module" test "$module" = crosstalk/python/crosstalk -a -s "root/usr/share/$module/__init__.py"
check "it depends on the libraries of its programs" grep -q libboost-program-options <(dpkg-deb -f ./crosstalk_*.deb Depends)
[[ ${1:-} == install ]] || exit 0

# On a fresh Debian 12 apt installs its dependencies, and a user's first commands work.
fresh=$scratch/fresh
fresh_debian "$fresh" ca-certificates
cp ./crosstalk_*.deb "$fresh/crosstalk.deb"
inside() {
    in_root "$fresh" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive \
        ASAN_OPTIONS=detect_leaks=0 "$@"
}
check "apt installs it" inside sh -c "apt-get update && apt-get install -y --no-install-recommends /crosstalk.deb"
run inside crosstalk doctor
((status == 0 || status == 77)) || broken "crosstalk doctor works" "$(cat "$scratch/out" "$scratch/err")"
check "it knows the machine" grep -q '^CPUs .*core' "$scratch/out"
run inside noisegen --schedule "memory.stream 2s" --duration 2s --cpus 0
[[ $status == 0 ]] || broken "noise runs" "$(cat "$scratch/out" "$scratch/err")"
check "and reports its rate" grep -q '^memory.stream: .*B/s' "$scratch/out"
