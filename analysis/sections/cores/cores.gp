# Slowdown of the step with each number of cores kept, and the monotone curve. Given: curves, names[curves],
# most[curves] and enough[curves] cores (0: none is); budget; low and high of the intervals.

panel_height = 280
height = 16.0 + curves * panel_height
set terminal svg noenhanced size 1100,height dynamic font 'sans-serif,13' name 'cores'
set output 'cores.svg'
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
set lmargin at screen 62 / 1100.0
set rmargin at screen 0.97

do for [n = 1 : curves] {
    set tmargin at screen 1 - ((n - 1) * panel_height + 30) / height
    set bmargin at screen 1 - (n * panel_height - 40) / height
    set xrange [0 : 1.06 * most[n]]
    unset object 1
    if (enough[n] > 0) {
        set object 1 rectangle from first enough[n], graph 0 to graph 1, graph 1 fc rgb '#3070b0' fs solid 0.12 noborder behind
    }
    set label 1 names[n] at graph 0, graph 1 left offset 0,0.8 tc rgb '#3070b0' font 'sans-serif,14'
    set xlabel 'physical cores that each rank keeps' offset 0,0.4
    plot 'cores_points.csv' skip 1 using ($1 == n - 1 ? $2 : NaN):6 with lines lw 2 lc rgb '#3070b0', \
         '' skip 1 using ($1 == n - 1 ? $2 : NaN):3:4:5 with yerrorbars pt 7 ps 0.8 lw 2 lc rgb '#3070b0'
    unset label 3
}
unset multiplot
