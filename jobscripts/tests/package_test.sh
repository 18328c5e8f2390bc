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
[[ ${1:-} == install ]] || exit 0

# On a fresh Debian 12 apt brings what it depends on, and a user's first commands work.
((EUID == 0)) || skip "needs root, to make another root"
needs debootstrap unshare
mirror=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/debian.sources 2>/dev/null) || true
[[ -n $mirror ]] || skip "no debian.sources says where packages come from"
fresh=$scratch/fresh
debootstrap --variant=minbase --include=ca-certificates bookworm "$fresh" "$mirror" >"$scratch/debootstrap.log" 2>&1 ||
    skip "debootstrap makes no root here: $(tail -n 1 "$scratch/debootstrap.log")"
cp -rT /etc/apt "$fresh/etc/apt"
cp /etc/resolv.conf "$fresh/etc/" 2>/dev/null || true
rm -f "$fresh"/etc/apt/sources.list
cp ./crosstalk_*.deb "$fresh/crosstalk.deb"
inside() {
    # shellcheck disable=SC2016 # the words are the inner shell's
    guard_run unshare --mount --pid --fork --kill-child bash -euc '
        mount -t proc proc "$0/proc"
        for folder in sys dev; do mount --rbind "/$folder" "$0/$folder"; done
        exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive \
            ASAN_OPTIONS=detect_leaks=0 "$@"' "$fresh" "$@"
}
check "apt installs it" inside sh -c "apt-get update && apt-get install -y --no-install-recommends /crosstalk.deb"
run inside crosstalk doctor
((status == 0 || status == 77)) || broken "crosstalk doctor works" "$(cat "$scratch/out" "$scratch/err")"
check "it knows the machine" grep -q '^CPUs .*core' "$scratch/out"
run inside noisegen --schedule "memory.stream 2s" --duration 2s --cpus 0
[[ $status == 0 ]] || broken "noise runs" "$(cat "$scratch/out" "$scratch/err")"
check "and reports its rate" grep -q '^memory.stream: .*B/s' "$scratch/out"
