# Parts of a coded product under each noise. Given: noises, names[noises], for which there are `left` pixels;
# part_names[3], colours[3]; high, the longest product.

height = 116.0 + 26 * noises
set terminal svg noenhanced size 1100,height dynamic font 'sans-serif,13' name 'coded'
set output 'coded.svg'
set datafile separator ','
set encoding utf8
set minussign
set lmargin at screen left / 1100.0
set rmargin at screen 1070 / 1100.0
set tmargin at screen 1 - 44 / height
set bmargin at screen 62 / height
set xrange [0 : 1.04 * high]
set yrange [0.4 : noises + 0.6]
set ytics () scale 0
do for [n = 1 : noises] {
    name = names[n]
    set ytics add (name noises + 1 - n)
}
set xtics nomirror out scale 0.5
set border 1 lw 0.7
set xlabel 'mean of a product, ms' offset 0,0.4
set grid xtics lc rgb '#a0a0a0' lw 0.4
set style fill solid 1.0 noborder
set key at screen 0.53,screen 0.99 center top horizontal samplen 1.5 width 1
plot for [p = 1 : 3] 'coded_parts.csv' skip 1 using ($2 == p ? ($3 + $4) / 2 : NaN):1:3:4:($1 - 0.32):($1 + 0.32) \
         with boxxyerror fc rgb colours[p] title part_names[p], \
     '' skip 1 using ($5 == $5 ? $4 : NaN):1:5:6 with xerrorbars pt 7 ps 0.3 lw 1.4 lc rgb '#606060' notitle, \
     '' skip 1 using (($3 + $4) / 2):1:(sprintf('%s, %s: %.3f ms', strcol(7), strcol(8), $4 - $3)) \
     with labels hypertext point pt 7 ps 2 lc rgb '#ff000000' notitle
