# Phases of a step, stacked, over time. Given: phases, names[phases], colours[phases]; high end of the step times shown;
# length_s of the run.

set terminal svg noenhanced size 1100,300 dynamic font 'sans-serif,13' name 'phases_over_time'
set output 'phases_over_time.svg'
set datafile separator ','
set encoding utf8
set minussign
set border 3 lw 0.7
set lmargin at screen 90 / 1100.0
set rmargin at screen 1085 / 1100.0
set tmargin at screen 0.82
set xrange [0 : length_s]
set yrange [0 : high]
set tics nomirror out scale 0.5
set xlabel 'time, s' offset 0,0.4
set ylabel 'step, ms'
set key at screen 0.53,screen 0.99 center top horizontal maxrows 2 samplen 1.5 width 1
set style fill solid 1.0 noborder
middle(begin, end, phase, n) = phase eq names[n] ? (begin + end) / 2 : NaN
end_of(y) = y > high ? high : y
plot for [n = 1 : phases] 'phases_over_time.csv' skip 1 \
         using (middle($1, $2, strcol(3), n)):(($5 + $6) / 2):1:2:(end_of($5)):(end_of($6)) \
         with boxxyerror fc rgb colours[n] title names[n], \
     '' skip 1 using (($1 + $2) / 2):(($5 + $6) / 2): \
         (sprintf('Phase %s, %.1f to %.1f s: %.2f ms', strcol(3), $1, $2, $4)) \
         with labels hypertext point pt 5 ps 0.8 lc rgb '#ff000000' notitle
