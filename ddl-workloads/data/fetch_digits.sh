#!/bin/sh
# Takes digits.csv.gz (1797 real 8x8 images of handwritten digits) out of Debian's package python3-sklearn, without
# installing it, and puts it where ddl-train looks for it.
#
#   fetch_digits.sh [DIRECTORY]     default: ${XDG_CACHE_HOME:-$HOME/.cache}/crosstalk
#
# Prints the file's path. With another directory, tell ddl-train: export CROSSTALK_DIGITS=DIRECTORY/digits.csv.gz
# Not root is fine, unless the package lists are missing (apt-get update). A file that is there is not fetched again.
set -eu

target=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/crosstalk}/digits.csv.gz
inside=usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz

if [ -s "$target" ]; then
    echo "$target"
    exit 0
fi
mkdir -p "$(dirname "$target")"
target=$(cd "$(dirname "$target")" && pwd)/digits.csv.gz

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"; rm -f "$target.$$"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

if [ -s "/$inside" ]; then
    cp "/$inside" "$target.$$"
else
    # apt fetches as user _apt, which must be able to write here.
    chmod 755 "$scratch"
    [ "$(id -u)" != 0 ] || chown _apt "$scratch" 2>/dev/null || true
    cd "$scratch"
    download() { apt-get -q download python3-sklearn >apt.log 2>&1; }
    if ! download; then
        [ "$(id -u)" != 0 ] || apt-get -q update >apt.log 2>&1 || true
        download || {
            cat apt.log >&2
            echo "fetch_digits.sh: cannot download python3-sklearn; try: apt-get update" >&2
            exit 1
        }
    fi
    for package in python3-sklearn_*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -xOf - "./$inside" >"$target.$$"
    done
fi

gzip -t "$target.$$"
mv "$target.$$" "$target"
echo "$target"
