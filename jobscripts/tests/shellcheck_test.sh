#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The scripts pass shellcheck.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/testing.sh"
needs shellcheck
cd "$jobscripts/.."
shellcheck -x -P SCRIPTDIR quickstart.sh check.sh .ci/run jobscripts/*.sh jobscripts/*.sbatch jobscripts/tests/*.sh results/gpu/*.sh examples/slurm/*.sbatch
