# SPDX-License-Identifier: Apache-2.0
# Settings of a site, for: crosstalk campaign run DIR --back-end slurm --site site.sh
# shellcheck shell=bash
#SBATCH --account=project
#SBATCH --partition=gpu --gres=gpu:4
#SBATCH --time=04:00:00
module load OpenMPI
