#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fortran_test.sh BUILD [SANITIZERS]: a Fortran program marks its steps through the module crosstalk_mark.
set -euo pipefail
build=$1 sanitizers=${2:-}
command -v gfortran > /dev/null || { echo "gfortran is not installed"; exit 77; }
[[ -e $build/lib/libcrosstalk-mark.so ]] || { echo "libcrosstalk-mark.so is not built"; exit 77; }
module=$(dirname "$(realpath "$0")")/../mark/crosstalk_mark.f90
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat > "$scratch/mine.f90" <<'END'
program mine
    use crosstalk_mark
    implicit none
    integer :: step
    do step = 1, 3
        call crosstalk_step()
        call crosstalk_phase("forward")
        call crosstalk_phase_end()
    end do
    call crosstalk_end()
end program
END
gfortran -std=f2008 -Wall -J "$scratch" ${sanitizers:+-fsanitize="$sanitizers"} "$module" "$scratch/mine.f90" \
  -o "$scratch/mine" -L "$build/lib" -lcrosstalk-mark -Wl,-rpath,"$build/lib"
CROSSTALK_OUT=$scratch/run "$scratch/mine"
[[ $(wc -l < "$scratch/run/train/steps.csv") -gt 3 ]] || { cat "$scratch/run/train/steps.csv"; exit 1; }
