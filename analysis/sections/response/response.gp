# Effect of each level of a noise on the step, and the monotone curve. Given: curves, names[curves], axes[curves],
# colours[curves], highest[curves] and tolerated[curves] of the doses (below zero: none); budget; low and high of the
# intervals.

columns = curves < 3 ? curves : 3
rows = (curves + columns - 1) / columns
panel_height = 260
height = 16.0 + rows * panel_height
left = 62 / 1100.0
width = (1 - left - 0.012) / columns
set terminal svg noenhanced size 1100,height dynamic font 'sans-serif,13' name 'response'
set output 'response.svg'
set datafile separator ','
set encoding utf8
set minussign
set multiplot
room = 0.06 * (high - low)
set yrange [low - room : high + room]
set border 3 lw 0.7
set xtics nomirror out scale 0.5
set ytics nomirror out scale 0.5
set grid ytics lc rgb '#a0a0a0' lw 0.4
unset key
set arrow 1 from graph 0, first 0 to graph 1, first 0 nohead lc rgb '#707070' lw 1.2
set arrow 2 from graph 0, first budget to graph 1, first budget nohead lc rgb '#d03030' lw 1.2 dt 2
set label 3 'slowdown of the step, percent' at screen 0.012, screen 0.5 center rotate

do for [n = 1 : curves] {
    column = (n - 1) % columns
    row = (n - 1) / columns
    set lmargin at screen left + width * column
    set rmargin at screen left + width * (column + 1) - 0.03
    set tmargin at screen 1 - (row * panel_height + 30) / height
    set bmargin at screen 1 - ((row + 1) * panel_height - 36) / height
    set xrange [0 : 1.06 * highest[n]]
    unset object 1
    if (tolerated[n] > 0) {
        set object 1 rectangle from first 0, graph 0 to first tolerated[n], graph 1 fc rgb colours[n] fs solid 0.12 noborder behind
    }
    set label 1 names[n] at graph 0, graph 1 left offset 0,0.8 tc rgb colours[n] font 'sans-serif,14'
    set xlabel axes[n] offset 0,0.4
    plot 'response_points.csv' skip 1 using ($1 == n - 1 ? $2 : NaN):6 with lines lw 2 lc rgb colours[n], \
         '' skip 1 using ($1 == n - 1 ? $2 : NaN):3:4:5 with yerrorbars pt 7 ps 0.8 lw 2 lc rgb colours[n]
    unset label 3
}
unset multiplot
