# Effect of each noise on the step with its interval. Given: noises, names[noises], has_budget, budget; low and high of
# the intervals; axis[1], its label; has_truths (1 or 0).

set terminal svg noenhanced size 1100,(104 + 26 * noises) dynamic font 'sans-serif,14' name 'effects'
set output 'effects.svg'
set datafile separator ','
set encoding utf8
set minussign
room = 0.06 * (high - low)
longest = 12
do for [n = 1 : noises] { if (strlen(names[n]) > longest) { longest = strlen(names[n]) } }
set xrange [low - room : high + room]
set yrange [0.4 : noises + 0.6]
set ytics () scale 0
do for [n = 1 : noises] {
    name = names[n]
    set ytics add (name noises + 1 - n)
}
set xtics nomirror out scale 0.5
set border 1 lw 0.7
set lmargin (longest > 40 ? 40 : longest + 1)
set rmargin 3
set tmargin 2
set xlabel axis[1] offset 0,0.4
set grid xtics lc rgb '#a0a0a0' lw 0.4
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#707070' lw 1.2
if (has_budget) {
    set arrow 2 from budget, graph 0 to budget, graph 1 nohead lc rgb '#d03030' lw 1.2 dt 2
    set label 2 'budget' at budget, graph 1 center offset 0,0.6 tc rgb '#d03030'
}
unset key
plot 'effects_step.csv' skip 1 using 2:1:3:4:6 with xerrorbars pt 7 ps 0.9 lw 2.4 lc rgb variable, \
     for [n = 1 : has_truths] '' skip 1 using 5:1 with points pt 4 ps 1.3 lw 1.6 lc rgb '#808080', \
     '' skip 1 using 2:1:(sprintf('Effect, %s: %+.2f %%, %.2f to %.2f %%', strcol(7), $2, $3, $4)) \
     with labels hypertext point pt 7 ps 2.4 lc rgb '#ff000000'
