# Effect of each noise on the step, of all runs and of each. Given: rows, names[rows], budget; low and high of the
# intervals.

set terminal svg noenhanced size 1100,(80 + 26 * rows) dynamic font 'sans-serif,13' name 'runs'
set output 'runs.svg'
set datafile separator ','
set encoding utf8
set minussign
room = 0.06 * (high - low)
set xrange [low - room : high + room]
set yrange [0.4 : rows + 0.6]
set ytics () scale 0
do for [n = 1 : rows] {
    name = names[n]
    set ytics add (name rows + 1 - n)
}
set xtics nomirror out scale 0.5
set border 1 lw 0.7
set lmargin 24
set rmargin 3
set tmargin 3
set xlabel 'slowdown of the step, percent of the mean quiet step'
set grid xtics lc rgb '#a0a0a0' lw 0.4
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#707070' lw 1.2
set arrow 2 from budget, graph 0 to budget, graph 1 nohead lc rgb '#d03030' lw 1.2 dt 2
set label 2 'budget' at budget, graph 1 center offset 0,0.7 tc rgb '#d03030'
unset key
plot 'runs_plot.csv' skip 1 using 2:1:3:4:($5 == 0 ? $6 : NaN) with xerrorbars pt 7 ps 0.6 lw 1.4 lc rgb variable, \
     '' skip 1 using 2:1:3:4:($5 == 1 ? $6 : NaN) with xerrorbars pt 7 ps 1.1 lw 2.8 lc rgb variable, \
     '' skip 1 using 2:1:(sprintf('Noise %s, %s: %+.2f %%, %.2f to %.2f %%', strcol(8), $5 == 1 ? 'all' : strcol(7), $2, $3, $4)) \
     with labels hypertext point pt 7 ps 2.2 lc rgb '#ff000000'
