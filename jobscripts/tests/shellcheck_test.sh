#!/usr/bin/env bash
# The scripts pass shellcheck.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs shellcheck
cd "$jobscripts/.."
shellcheck -x -P SCRIPTDIR quickstart.sh check.sh .ci/run jobscripts/*.sh jobscripts/*.sbatch jobscripts/tests/*.sh results/gpu/*.sh
