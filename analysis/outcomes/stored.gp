# Accuracy over the rate at which stored bits flip, a panel for each model, strategy, moment, reads and detection.
# Given: panels, and of each models, moments, memories and first_curve (one more behind the last); of each curve code
# and first_row of stored.csv (one more); of each code names and colours; low and high decade, with_zero: low is none.

columns = panels < 2 ? 1 : 2
rows = (panels + columns - 1) / columns
panel_height = 300
height = 40.0 + rows * panel_height
width = 0.98 / columns
set terminal svg noenhanced size 1100,height dynamic font 'sans-serif,13' name 'stored'
set output 'stored.svg'
set datafile separator ','
set encoding utf8
set minussign
set multiplot
set border 3 lw 0.7
set xrange [low - 0.2 : high + 0.2]
set yrange [0 : 104]
set xtics 1 nomirror out scale 0.5 format '1e%.0f'
if (with_zero) { set xtics add ('none' low) }
set ytics 25 nomirror out scale 0.5 format '%.0f %%'
set grid ytics lc rgb '#a0a0a0' lw 0.4
set xlabel 'bit error rate of a read' offset 0,0.4
unset key
exponent(rate) = rate > 0 ? log10(rate) : low

# Once: what the colours are.
place = 0.06
do for [k = 1 : |names|] {
    used = 0
    do for [c = 1 : |code|] { if (code[c] == k) { used = 1 } }
    if (used) {
        set label k names[k] at screen place, screen 1 - 16 / height left offset 1,0 tc rgb colours[k] \
            point pt 4 + k ps 0.8 lc rgb colours[k]
        place = place + 0.035 + 0.008 * strlen(names[k])
    }
}

do for [n = 1 : panels] {
    column = (n - 1) % columns
    row = (n - 1) / columns
    set lmargin at screen width * column + 60 / 1100.0
    set rmargin at screen width * (column + 1) - 0.005
    set tmargin at screen 1 - (40 + row * panel_height + 50) / height
    set bmargin at screen 1 - (40 + (row + 1) * panel_height - 54) / height
    set label 20 models[n] at graph 0, graph 1 left offset 0,2.0 font 'sans-serif,14'
    set label 21 moments[n].', '.memories[n] at graph 0, graph 1 left offset 0,0.8
    first = first_curve[n]
    last = first_curve[n + 1] - 1
    plot for [c = first : last] 'stored.csv' skip 1 every ::first_row[c]::(first_row[c + 1] - 1) \
             using (exponent($7)):(100 * $9) with lines lw 1.6 lc rgb colours[code[c]], \
         for [c = first : last] '' skip 1 every ::first_row[c]::(first_row[c + 1] - 1) \
             using (exponent($7)):(100 * $9):(100 * ($8 > 1 ? $10 : $9)):(100 * ($8 > 1 ? $11 : $9)) \
             with yerrorbars pt 4 + code[c] ps 0.7 lw 1.2 lc rgb colours[code[c]], \
         for [c = first : last] '' skip 1 every ::first_row[c]::(first_row[c + 1] - 1) \
             using (exponent($7)):(100 * $9):(sprintf('Stored as %s, rate %s: %.1f %%, %.1f to %.1f %%, of %s trials', \
                 strcol(2), strcol(7), 100 * $9, 100 * $10, 100 * $11, strcol(8))) \
             with labels hypertext point pt 7 ps 2.2 lc rgb '#ff000000'
    do for [k = 1 : |names|] { unset label k }
}
unset multiplot
