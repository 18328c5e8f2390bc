#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Downloads the packages of Debian that a build needs and that a machine with a GPU may lack: OTF2 and other libraries. Run
# it on Debian 12, as any user:
#
#   results/gpu/fetch.sh [DIR]     puts them into DIR (default build/gpu-packages); then copy DIR to the machine with the GPU
#
# Nothing is installed. Exit codes: 0 fine, 1 a package cannot be downloaded, 77 this is not Debian.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${1:-build/gpu-packages}
wanted=(libopen-trace-format2-dev libboost-program-options-dev libboost-math-dev nlohmann-json3-dev libhwloc-dev libhdf5-dev
    libeigen3-dev doctest-dev zlib1g-dev libgloo-dev liburing-dev libisal-dev pkgconf)
# Packages that every machine with a compiler has, perhaps in another version.
there='^(libc6.*|libc-.*|libgcc.*|libstdc.*|gcc.*|linux-libc.*|perl.*|libperl.*|dpkg|tar|debianutils|pkg-config|auto.*|m4|lib(asan|lsan|tsan|ubsan|itm|quadmath|atomic|gomp).*|libcrypt.*|libselinux.*|libtirpc.*|libnsl.*|rpcsvc.*|libdb.*|libgdbm.*|.*-(nss|gnutls|openssl)-dev|libcurl3-.*|libssl-dev|libltdl.*|hdf5-helpers|libjpeg.*|libmd0|libacl1|nss-.*|libns[ps].*)$'

say() { echo "fetch.sh: $*" >&2; }
for program in apt-get apt-cache; do
    command -v "$program" >/dev/null || { say "no $program here: run it on a Debian 12"; exit 77; }
done
mapfile -t packages < <(
    apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
        "${wanted[@]}" | grep '^[a-z]' | grep -vE "$there" | sort -u
)
((${#packages[@]} > 0)) || { say "apt-cache knows none of ${wanted[*]}: apt-get update?"; exit 1; }
mkdir -p "$folder"
(cd "$folder" && apt-get -q download "${packages[@]}" >&2) || { say "a package cannot be downloaded"; exit 1; }
say "${#packages[@]} packages, $(du -sh "$folder" | cut -f1), in $folder"
