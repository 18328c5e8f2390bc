#!/usr/bin/env bash
# cpack makes a Debian package: its programs, unpacked elsewhere, run, and it has what a user needs beside them.
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
    lib/cmake/crosstalk/crosstalk-config.cmake share/bash-completion/completions/noisegen; do
    check "$file is there" test -s "root/usr/$file"
done
check "it depends on the libraries of its programs" grep -q libboost-program-options <(dpkg-deb -f ./crosstalk_*.deb Depends)
