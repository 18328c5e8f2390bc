#!/usr/bin/env bash
# README's two commands on a bare Debian 12, as somebody finds them there: a fresh root (debootstrap) that has git and
# nothing else. As a user, quickstart.sh says which packages to install, and what it prints installs them; as root it
# installs them itself. Prints how long each command took.
#
#   clean_root_test.sh user|root [quickstart.sh|check.sh OPTION...]     default: quickstart.sh
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
((EUID == 0)) || skip "needs root, to make another root"
needs debootstrap unshare git
who=${1:?user or root}
shift
(($# > 0)) || set -- quickstart.sh

sources=/etc/apt/sources.list.d/debian.sources
mirror=$(awk '/^URIs:/ { print $2; exit }' "$sources" 2>/dev/null) || true
[[ -n $mirror ]] || skip "no $sources says where packages come from"
root=$scratch/root
debootstrap --variant=minbase --include=git,ca-certificates bookworm "$root" "$mirror" >"$scratch/debootstrap.log" 2>&1 ||
    skip "debootstrap makes no root here: $(tail -n 1 "$scratch/debootstrap.log")"
cp -rT /etc/apt "$root/etc/apt"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
rm -f "$root"/etc/apt/sources.list

# A user's home: what is committed, cloned as anybody would.
chroot "$root" useradd --create-home --shell /bin/bash reader
home=$root/root
[[ $who == root ]] || home=$root/home/reader
git clone -q --no-local "$jobscripts/.." "$home/crosstalk" 2>"$scratch/clone" || skip "no clone: $(cat "$scratch/clone")"
[[ $who == root ]] || chroot "$root" chown -R reader: /home/reader

# inside USER COMMAND: in that user's home, with mounts and processes that end with it.
inside() {
    # shellcheck disable=SC2016 # the words are the inner shell's
    guard_run unshare --mount --pid --fork --kill-child bash -euc '
        mount -t proc proc "$0/proc"
        for folder in sys dev; do mount --rbind "/$folder" "$0/$folder"; done
        exec chroot "$0" su - "$@"' "$root" "$1" -c "$2"
}
timed() {
    local begin=$SECONDS
    "$@"
    echo "$((SECONDS - begin)) s: ${*:3}"
}
in_clone="cd crosstalk && ./$*"

if [[ $who == user ]]; then
    run inside reader "$in_clone"
    ((status == 1)) || broken "without packages it ends with 1" "it ended with $status: $(cat "$scratch/err")"
    command=$(sed -n 's/^    \(apt-get .*\)/\1/p' "$scratch/err")
    [[ -n $command ]] || broken "it says what to install" "$(cat "$scratch/err")"
    timed inside root "export DEBIAN_FRONTEND=noninteractive; { $command; } >/dev/null 2>&1"
    timed inside reader "$in_clone"
else
    timed inside root "$in_clone"
fi
