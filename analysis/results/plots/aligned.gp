# Mean step by number, quiet and noisy runs.

set terminal svg noenhanced size 1100,320 dynamic font 'sans-serif,13' name 'aligned'
set output 'aligned.svg'
set datafile separator ','
set encoding utf8
set minussign
set border 3 lw 0.7
set tics nomirror out scale 0.5
set autoscale xfix  # the warm-up is cut
set xlabel 'step'
set ylabel 'mean over runs, ms'
set key outside top center horizontal
plot 'aligned_steps.csv' every stride skip 1 using 1:3 with points pt 7 ps 0.3 lc rgb '#c96a00' title 'noisy', \
     '' every stride skip 1 using 1:2 with points pt 7 ps 0.3 lc rgb '#0072b2' title 'quiet'
