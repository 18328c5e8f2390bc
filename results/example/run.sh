#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The example, from the run to the page and the picture beside this script: three minutes on a machine on which nothing
# else runs.
#
#   results/example/run.sh [DIR]     makes the run DIR (default build/example), or takes the one that is there, and from it
#                                    report.html, its page, and with Chromium report.png, the top of that page
#
# What came out, and when and where, is then to be said in README.md. RESULTS=FOLDER puts both elsewhere. CROSSTALK_BIN
# is the folder of the programs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
results=$(realpath "${RESULTS:-$here}")
run=${1:-build/example}
cd "$here/../.."
status=0
[[ -e $run ]] || jobscripts/local.sh --out "$run" --duration 150 || status=$?
[[ -f $run/report/index.html ]] || { echo "example: no report in $run" >&2; exit "$((status > 0 ? status : 1))"; }

# The page without what leads out of it: links to tables and drawings, which stay in the run, and this folder's path.
page=$(sed -E -e 's| <span class="screen">Data, script and drawing: .*</span></figcaption>|</figcaption>|' \
    -e 's| Beside this page: <a href=.*</a>\.</p>|</p>|' "$run/report/index.html")
printf '%s\n' "${page//"$PWD/"/}" >"$results/report.html"

for browser in chromium chromium-browser google-chrome; do
    command -v "$browser" >/dev/null || continue
    "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,800 \
        --user-data-dir="$run/browser" --screenshot="$results/report.png" "file://$results/report.html" 2>/dev/null
    rm -rf "$run/browser"
    exit "$status"
done
echo "example: no Chromium here, so report.png is still the old one" >&2
exit "$status"
