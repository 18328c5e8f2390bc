# Each rank's own time over the steps. Given: rows and names[rows] of ranks, columns of steps, first and last step; reach:
# how far the colours go, in percent above and below the median; left: room for the names, in pixels.

row_height = rows < 6 ? 40 : 20
height = 1.0 * (76 + row_height * rows)
set terminal svg noenhanced size 1100,height dynamic font 'sans-serif,13' name 'heat_map'
set output 'heat_map.svg'
set datafile separator ','
set encoding utf8
set minussign
set border 3 lw 0.7
set lmargin at screen left / 1100.0
set rmargin at screen 990 / 1100.0  # the numbers of the colours stand to the right of it
set tmargin at screen 1 - 14 / height
set bmargin at screen 62 / height
set xrange [first : last + 1]
set yrange [rows : 0]
set xtics nomirror out scale 0.5
set ytics () scale 0
do for [n = 1 : rows] {
    name = names[n]
    set ytics add (name n - 0.5)
}
set xlabel 'step' offset 0,0.4
set palette defined (-1 '#1f78d1', 0 '#b9c1ca', 1 '#d62f2f') maxcolors 33
set cbrange [-reach : reach]
set cbtics (sprintf('−%.1f %%%%', reach) -reach, '0 %%' 0, sprintf('+%.1f %%%%', reach) reach) scale 0
set colorbox user origin screen 1008 / 1100.0, screen 62 / height size screen 14 / 1100.0, screen 1 - 76 / height
set style fill solid 1.0 noborder
unset key
clamped(x) = x > reach ? reach : x < -reach ? -reach : x
width = 990.0 - left
cell = width / columns < row_height ? width / columns : 1.0 * row_height
of_ranks(a, b) = a == b ? sprintf('Rank %d', a) : sprintf('Ranks %d to %d', a, b)
of_steps(a, b) = a == b ? sprintf('step %d', a) : sprintf('steps %d to %d', a, b)
plot 'heat_map.csv' skip 1 using (($4 + $5 + 1) / 2):($1 + 0.5):4:($5 + 1):1:($1 + 1):(clamped($7)) \
     with boxxyerror fc palette, \
     '' skip 1 using (($4 + $5 + 1) / 2):($1 + 0.5): \
     (of_ranks($2, $3) . ', ' . of_steps($4, $5) . sprintf(': %.2f ms, %+.2f %%', $6, $7)) \
     with labels hypertext point pt 5 ps cell / 9.75 lc rgb '#ff000000'
