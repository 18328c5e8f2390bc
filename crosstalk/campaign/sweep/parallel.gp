# A line for each complete trial through its parameters and its value. Given: axes, names[axes], lows[axes], highs[axes]
# (texts at the ends of each axis).

set terminal svg noenhanced size 1100,420 dynamic font 'sans-serif,14' name 'parallel'
set output 'parallel.svg'
set datafile separator ','
set encoding utf8
set minussign
set xrange [0.7 : axes + 0.3]
set yrange [-0.12 : 1.12]
unset ytics
unset border
unset key
set lmargin 6
set rmargin 6
set xtics () scale 0
do for [n = 1 : axes] {
    name = names[n]
    set xtics add (name n)
    set arrow n from n, 0 to n, 1 nohead lc rgb '#707070' lw 1
    set label 2 * n - 1 lows[n] at n, -0.06 center
    set label 2 * n highs[n] at n, 1.06 center
}
set palette defined (0 '#0072b2', 1 '#b0b0b0')
set cbrange [0 : 1]
unset colorbox
plot 'parallel.csv' skip 1 using 2:3:4 with lines lw 1 lc palette
