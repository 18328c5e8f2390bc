# Phases of a step, stacked, over time; a panel a run. Given: phases, names[phases], colours[phases]; runs,
# names_of_runs[runs]; high end of the step times shown; length_s of the longest run; column_of_run in the table.

top = runs > 1 ? 84.0 : 52.0
panel = runs > 1 ? 150.0 : 252.0
height = top + panel * runs
set terminal svg noenhanced size 1100,height dynamic font 'sans-serif,13' name 'phases_over_time'
set output 'phases_over_time.svg'
set datafile separator ','
set encoding utf8
set minussign
set border 3 lw 0.7
set lmargin at screen 90 / 1100.0
set rmargin at screen 1085 / 1100.0
set xrange [0 : length_s]
set yrange [0 : high]
set tics nomirror out scale 0.5
set xlabel 'time, s' offset 0,0.4
set ylabel 'step, ms'
set style fill solid 1.0 noborder
of_run(name, r) = runs == 1 || name eq names_of_runs[r]
middle(begin, end, phase, n) = phase eq names[n] ? (begin + end) / 2 : NaN
end_of(y) = y > high ? high : y
said(run) = runs > 1 ? ' of ' . run : ''
if (runs > 1) set multiplot
do for [r = 1 : runs] {
    set tmargin at screen 1 - (top + (r - 1) * panel) / height
    set bmargin at screen 1 - (top + r * panel - (runs > 1 ? 62 : 58)) / height
    if (runs > 1) { set label 1 names_of_runs[r] at graph 0, graph 1 left offset 0,0.8 }
    if (r == 1) { set key at screen 0.53,screen 0.99 center top horizontal maxrows 2 samplen 1.5 width 1 } else { unset key }
    run_of(name) = of_run(name, r) ? 1 : NaN
    plot for [n = 1 : phases] 'phases_over_time.csv' skip 1 \
             using (middle($1, $2, strcol(3), n) * run_of(strcol(column_of_run))):(($5 + $6) / 2):1:2:(end_of($5)):(end_of($6)) \
             with boxxyerror fc rgb colours[n] title names[n], \
         '' skip 1 using (($1 + $2) / 2 * run_of(strcol(column_of_run))):(($5 + $6) / 2): \
             ('Phase ' . strcol(3) . said(strcol(column_of_run)) . sprintf(', %.1f to %.1f s: %.2f ms', $1, $2, $4)) \
             with labels hypertext point pt 5 ps 0.8 lc rgb '#ff000000' notitle
}
if (runs > 1) unset multiplot
