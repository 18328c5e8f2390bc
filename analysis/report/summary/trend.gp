# Each noise over time. Given: noises, names[noises], colours[noises]; first start of a run, seconds since 1970, and the span
# of all starts; budget; low and high of the intervals.

row_height = 166
height = 1.0 * (30 + row_height * noises)
set terminal svg noenhanced size 1100,height dynamic font 'sans-serif,13' name 'trend'
set output 'trend.svg'
set datafile separator ','
set encoding utf8
set minussign
set multiplot
set lmargin at screen 78 / 1100.0
set rmargin at screen 1085 / 1100.0
set border 3 lw 0.7
set tics nomirror out scale 0.5
room = span > 0 ? 0.04 * span : 3600
set xrange [first - room : first + span + room]
day_or_time = span > 3 * 86400 ? '%Y-%m-%d' : span > 0 && span < 600 ? '%H:%M:%S' : '%m-%d %H:%M'
set xtics time format day_or_time span > 0 ? span / 5 : 3600
set ylabel 'slowdown, %' offset 1,0
set yrange [low - 0.05 * (high - low) : high + 0.05 * (high - low)]
wanted = (high - low) / 3.0
power = 10 ** floor(log10(wanted))
tick = power * (wanted / power < 1.5 ? 1 : wanted / power < 3.5 ? 2 : wanted / power < 7.5 ? 5 : 10)
set ytics tick nomirror out scale 0.5
set grid ytics lc rgb '#a0a0a0' lw 0.4
unset key
do for [n = 1 : noises] {
    set tmargin at screen 1 - ((n - 1) * row_height + 40) / height
    set bmargin at screen 1 - (n * row_height - 24) / height
    set label 1 names[n] at graph 0, graph 1 left offset 0,0.8 tc rgb colours[n] font 'sans-serif,14'
    set arrow 1 from graph 0, first 0 to graph 1, first 0 nohead lc rgb '#707070' lw 1.2
    set arrow 2 from graph 0, first budget to graph 1, first budget nohead lc rgb '#d03030' lw 1.2 dt 2
    plot 'trend_plot.csv' skip 1 using ($1 == n - 1 && $6 == 0 ? $2 : NaN):3:4:5 \
             with yerrorbars pt 6 ps 0.7 lw 1.6 lc rgb '#b0b0b0', \
         '' skip 1 using ($1 == n - 1 && $6 == 1 ? $2 : NaN):3:4:5 \
             with yerrorbars pt 7 ps 0.7 lw 1.6 lc rgb colours[n], \
         '' skip 1 using ($1 == n - 1 ? $2 : NaN):3: \
             (sprintf('Noise %s, %s: %+.2f %%, %.2f to %.2f %%', strcol(7), strcol(8), $3, $4, $5)) \
             with labels hypertext point pt 7 ps 1.6 lc rgb '#ff000000'
}
unset multiplot
