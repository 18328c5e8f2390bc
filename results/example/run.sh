#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The example, from the run to the page and the picture beside this script: three minutes on a machine on which nothing
# else runs.
#
#   results/example/run.sh [DIR]     makes the run DIR (default build/example) unless it exists, then its page report.html
#                                    and, with Chromium, report.png, the top of that page
#
# Then describe the results, their date and machine in README.md by hand. RESULTS=FOLDER puts both files elsewhere.
# CROSSTALK_BIN is the folder of the programs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
results=$(realpath "${RESULTS:-$here}")
run=${1:-build/example}
cd "$here/../.."
status=0
[[ -e $run ]] || jobscripts/local.sh --out "$run" --duration 150 || status=$?
[[ -f $run/report/index.html ]] || { echo "example: no report in $run" >&2; exit "$((status > 0 ? status : 1))"; }

# Removes from the page all references to other files: links to tables and drawings, and the path of this folder.
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
