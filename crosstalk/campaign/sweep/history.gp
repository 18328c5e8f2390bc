# Value of each trial, and the best so far. Given: axis[1], its label; low and high of the values.

set terminal svg noenhanced size 1100,340 dynamic font 'sans-serif,14' name 'history'
set output 'history.svg'
set datafile separator ','
set encoding utf8
set minussign
set xtics nomirror out scale 0.5
set ytics nomirror out scale 0.5
set border 3 lw 0.7
set grid ytics lc rgb '#a0a0a0' lw 0.4
room = 0.06 * (high - low)
set yrange [low - room : high + room]
set xlabel 'trial' offset 0,0.4
set ylabel axis[1]
set key tmargin right horizontal
plot 'history.csv' skip 1 using 1:(strcol(2) eq 'complete' ? $3 : NaN) with points pt 7 ps 0.6 lc rgb '#0072b2' title 'complete', \
     '' skip 1 using 1:(strcol(2) eq 'pruned' ? $3 : NaN) with points pt 2 ps 0.7 lc rgb '#808080' title 'pruned', \
     '' skip 1 using 1:4 with steps lw 1.6 lc rgb '#d03030' title 'best so far'
