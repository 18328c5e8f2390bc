#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# README's commands on a bare Debian 12: a fresh root (debootstrap) with git and nothing else. As a user, quickstart.sh
# says which packages are missing, and the test installs them by the command that it prints; as root, quickstart.sh
# installs them itself. Prints how long each command took.
#
#   clean_root_test.sh user|root [quickstart.sh|check.sh OPTION...]     default: quickstart.sh
#   clean_root_test.sh user|root README.md [--without-check]
#
# README.md: its commands from top to bottom, word for word, with Python installed. Commands that
# commands_in_documents_test.py leaves out are left out here, too; with --without-check also check.sh, which takes longest.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
who=${1:?user or root}
shift
(($# > 0)) || set -- quickstart.sh
needs git
root=$scratch/root
packages=git,ca-certificates
[[ $1 != README.md ]] || packages+=,python3
fresh_debian "$root" "$packages"

# A user's home with a clone of the committed sources.
chroot "$root" useradd --create-home --shell /bin/bash reader
account=root home=$root/root
[[ $who == root ]] || account=reader home=$root/home/reader
git clone -q --no-local "$jobscripts/.." "$home/crosstalk" 2>"$scratch/clone" || skip "no clone: $(cat "$scratch/clone")"
[[ $who == root ]] || chroot "$root" chown -R reader: /home/reader

# inside USER COMMAND: runs COMMAND in that user's home.
inside() { in_root "$root" su - "$1" -c "$2"; }
timed() {
    local begin=$SECONDS
    "$@"
    echo "$((SECONDS - begin)) s: ${*:3}"
}

# first_without_packages COMMAND: runs COMMAND as a user, and installs the packages that it says are missing.
first_without_packages() {
    local command
    run inside reader "$1"
    ((status == 1)) || broken "without packages it ends with 1" "it ended with $status: $(cat "$scratch/err")"
    command=$(sed -n 's/^    \(apt-get .*\)/\1/p' "$scratch/err")
    [[ -n $command ]] || broken "it says what to install" "$(cat "$scratch/err")"
    timed inside root "export DEBIAN_FRONTEND=noninteractive; { $command; } >/dev/null 2>&1"
}
in_clone() {
    [[ $who == root ]] || first_without_packages "cd crosstalk && $1"
    timed inside "$account" "cd crosstalk && $1"
}

if [[ $1 != README.md ]]; then
    in_clone "./$*"
    exit
fi
in_clone ./quickstart.sh
[[ ${2:-} == --without-check ]] || in_clone ./check.sh
# shellcheck disable=SC2016 # for the other shell to expand
all='cd crosstalk && CROSSTALK_BIN=$PWD/build/release/bin jobscripts/tests/commands_in_documents_test.py README.md'
timed inside "$account" "$all"
timed inside "$account" "$all --slow"
