# From the quiet step to that under each noise, by what kept main threads from running. Given: noises, names[noises],
# colours[noises]; parts, part_names[parts], for which there are `left` pixels; low and high of all.

columns = noises < 3 ? noises : 3
rows = (noises + columns - 1) / columns
panel_height = 76 + 22 * parts
height = 16.0 + rows * panel_height
begin = left / 1100.0
width = (1 - begin - 0.012) / columns
set terminal svg noenhanced size 1100,height dynamic font 'sans-serif,13' name 'evidence'
set output 'evidence.svg'
set datafile separator ','
set encoding utf8
set minussign
set multiplot
room = 0.06 * (high - low)
if (room < 0.01) { room = 0.01 }
set xrange [low - room : high + room]
set yrange [0.4 : parts + 0.6]
set border 1 lw 0.7
set xtics nomirror out scale 0.5
set grid xtics lc rgb '#a0a0a0' lw 0.4
set style fill solid 1.0 noborder
unset key
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#707070' lw 1.2

do for [n = 1 : noises] {
    column = (n - 1) % columns
    row = (n - 1) / columns
    set lmargin at screen begin + width * column
    set rmargin at screen begin + width * (column + 1) - 0.018
    set tmargin at screen 1 - (row * panel_height + 26) / height
    set bmargin at screen 1 - ((row + 1) * panel_height - 40) / height
    if (column == 0) {
        set format y '%h'
        set ytics () scale 0
        do for [p = 1 : parts] {
            name = part_names[p]
            set ytics add (name parts + 1 - p)
        }
    } else {
        unset ytics
    }
    set label 1 names[n] at graph 0, graph 1 left offset 0,0.8 tc rgb colours[n] font 'sans-serif,14'
    if (n == noises) {
        set label 3 'percent of the mean quiet step' at screen 0.55, screen 0 center offset 0,0.7
    }
    plot 'evidence_parts.csv' skip 1 using ($1 == n - 1 ? $3 : NaN):2:3:4:($2 - 0.32):($2 + 0.32) \
         with boxxyerror lc rgb colours[n], \
         '' skip 1 using ($1 == n - 1 && $5 == $5 ? $4 : NaN):2:5:6 with xerrorbars pt 7 ps 0.3 lw 1.4 lc rgb '#606060', \
         '' skip 1 using ($1 == n - 1 ? $4 : NaN):2: \
         (sprintf('Noise %s, %s: %+.2f %%', strcol(7), strcol(8), strcol(8) eq 'step' ? $4 : $4 - $3)) \
         with labels hypertext point pt 7 ps 2 lc rgb '#ff000000'
}
unset multiplot
