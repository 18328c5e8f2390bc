# Expected share of time lost over the interval between checkpoints, a panel for each way of writing them. Given: panels,
# settings[panels] and first_curve (one more); of each curve names, colours, first_row of cost.csv (one more), and Daly's
# interval: best (minutes), best_percent; low and longest interval in minutes, high: the largest share.

columns = panels < 2 ? 1 : 2
rows = (panels + columns - 1) / columns
panel_height = 330
height = 20.0 + rows * panel_height
width = 1.0 / columns
set terminal svg noenhanced size 1100,height dynamic font 'sans-serif,14' name 'cost'
set output 'cost.svg'
set datafile separator ','
set encoding utf8
set minussign
set multiplot
set border 3 lw 0.7
set logscale x 10
set xrange [low : longest]
set yrange [0 : 1.05 * high]
set xtics nomirror out scale 0.5
set ytics nomirror out scale 0.5 format '%g %%'
set grid ytics lc rgb '#a0a0a0' lw 0.4
set xlabel 'minutes between checkpoints' offset 0,0.4
unset key

do for [n = 1 : panels] {
    column = (n - 1) % columns
    row = (n - 1) / columns
    set lmargin at screen width * column + 70 / 1100.0
    set rmargin at screen width * (column + 1) - 20 / 1100.0
    set tmargin at screen 1 - (row * panel_height + 60) / height
    set bmargin at screen 1 - ((row + 1) * panel_height - 40) / height
    set label 100 settings[n] at graph 0, graph 1 left offset 0,2.2 font 'sans-serif,15'
    first = first_curve[n]
    last = first_curve[n + 1] - 1
    place = 0.01
    do for [c = first : last] {
        set label 100 + c names[c] at graph place, graph 1.07 left offset 0.8,-0.3 point pt 7 ps 0.9 lc rgb colours[c]
        set label 1000 + c '' at best[c], best_percent[c] point pt 7 ps 0.9 lc rgb colours[c]
        place = place + columns * (0.03 + 0.009 * strlen(names[c]))
    }
    plot for [c = first : last] 'cost.csv' skip 1 every ::first_row[c]::(first_row[c + 1] - 1) \
             using ($8 / 60):12 with lines lw 2 lc rgb colours[c], \
         for [c = first : last] '' skip 1 every ::first_row[c]::(first_row[c + 1] - 1) \
             using ($8 / 60):12:(sprintf('Noise %s, every %.3g min: %.2f %% lost', strcol(7), $8 / 60, $12)) \
             with labels hypertext point pt 7 ps 1.6 lc rgb '#ff000000'
    do for [c = first : last] {
        unset label 100 + c
        unset label 1000 + c
    }
}
unset multiplot
