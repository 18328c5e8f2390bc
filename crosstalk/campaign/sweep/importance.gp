# Share of the variance of the value that each parameter explains. Given: parameters, names[parameters].

set terminal svg noenhanced size 1100,(80 + 26 * parameters) dynamic font 'sans-serif,14' name 'importance'
set output 'importance.svg'
set datafile separator ','
set encoding utf8
longest = 8
do for [n = 1 : parameters] { if (strlen(names[n]) > longest) { longest = strlen(names[n]) } }
set lmargin (longest > 40 ? 40 : longest + 2)
set xrange [0 : 1]
set yrange [0.4 : parameters + 0.6]
set ytics () scale 0
do for [n = 1 : parameters] {
    name = names[n]
    set ytics add (name parameters + 1 - n)
}
set xtics nomirror out scale 0.5
set border 1 lw 0.7
set grid xtics lc rgb '#a0a0a0' lw 0.4
set xlabel 'importance' offset 0,0.4
unset key
set style fill solid
plot 'importance.csv' skip 1 using (0):(parameters - $0):(0):2:(parameters - $0 - 0.3):(parameters - $0 + 0.3) \
     with boxxyerror lc rgb '#0072b2'
