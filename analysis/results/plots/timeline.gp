# Step time over time, with what noise was on. Given: rows and row_s of the time axis, low and high of the step times
# shown, lane (height of a noise's lane below them), xtick and ytick; noises, names[noises] and colours[noises]; hover: whether slots show what
# they are where the pointer is.

top = 54
row_height = 188
height = 1.0 * (top + 24 + rows * row_height)
set terminal svg noenhanced size 1100,height dynamic font 'sans-serif,13' name 'timeline'
set output 'timeline.svg'
set datafile separator ','
set encoding utf8
set minussign
set border lw 0.7
set multiplot
set lmargin at screen 78 / 1100.0
set rmargin at screen 1085 / 1100.0
set tics nomirror out scale 0.5
set xtics xtick
set ytics ceil(low / ytick) * ytick, ytick  # where there are steps, not where the lanes are
set ylabel 'step, ms' offset 1.2,1
set yrange [low - lane * (noises + 0.5) : high]
set style fill solid 1.0 noborder
set key at screen 0.5,screen 0.985 center top horizontal samplen 1.5 width 1

# Rows of another noise have no place on the x axis, so they are not drawn.
shown(step, state, wanted) = state eq wanted ? (step > high ? high : step) : NaN
middle(begin, end, is_shown) = is_shown ? (begin + end) / 2 : NaN

do for [row = 0 : rows - 1] {
    set tmargin at screen 1 - (top + row * row_height) / height
    set bmargin at screen 1 - (top + (row + 1) * row_height - 40) / height
    set xrange [row * row_s : (row + 1) * row_s]
    if (row == rows - 1) { set xlabel 'time, s' offset 0,0.6 }
    plot for [n = 1 : noises] 'timeline_bands.csv' skip 1 \
             using (middle($1, $2, $3 == n - 1 && $4 == 1)):(0):1:2:(low):(high) \
             with boxxyerror fc rgb '#d0' . substr(colours[n], 2, 7) notitle, \
         for [n = 1 : noises] 'timeline_bands.csv' skip 1 \
             using (middle($1, $2, $3 == n - 1)):(0):1:2:(low - lane * n):(low - lane * (n - 0.85)) \
             with boxxyerror fc rgb colours[n] title names[n], \
         'timeline_steps.csv' skip 1 using 1:(shown($2, strcol(3), 'left_out')) \
             with points pt 7 ps 0.22 lc rgb '#b0b0b0' title 'step left out', \
         '' skip 1 using 1:(shown($2, strcol(3), 'used')) \
             with points pt 7 ps 0.28 lc rgb '#606060' title 'step', \
         '' skip 1 using 1:(shown($2, strcol(3), 'outlier')) \
             with points pt 9 ps 0.5 lc rgb '#d03030' title 'outlier', \
         '' skip 1 using 1:(shown($2, strcol(3), 'outlier')):(sprintf('Outlier at %.1f s: %.2f ms', $1, $2)) \
             with labels hypertext point pt 7 ps 1 lc rgb '#ff000000' notitle, \
         for [n = 1 : noises] 'timeline_bands.csv' skip 1 \
             using (middle($1, $2, hover && $3 == n - 1)):(low - lane * (n - 0.425)): \
             (sprintf('Noise %s: %.2f to %.2f s', strcol(5), $1, $2)) \
             with labels hypertext point pt 5 ps 1 lc rgb '#ff000000' notitle
    unset key
}
unset multiplot
