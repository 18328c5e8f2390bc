# Damage to a victim against the noise's own traffic, a panel a measure. Given: noises, names[noises],
# colours[noises], gb_per_s[noises] with its least and most, and xtick; panels, files[panels], titles[panels];
# low[panels] and high[panels] of the axes; values[panels * noises], and places[panels * noises] of their labels.

panel_height = 300
left = 70.0
right = 620.0
longest = 0
do for [n = 1 : noises] {
    if (strlen(names[n]) > longest) { longest = strlen(names[n]) }
}
width = right + 40 + 8 * longest
height = 1.0 * panels * panel_height
set terminal svg noenhanced size width,height dynamic font 'sans-serif,12' background '#ffffff'
set output 'probe.svg'
set datafile separator ','
set encoding utf8
set border 3 lw 0.7
set tics nomirror out scale 0.5
set xtics 0,xtick
set key off
set multiplot
set lmargin at screen left / width
set rmargin at screen right / width
set xrange [least - 0.02 * most : 1.03 * most]

do for [p = 1 : panels] {
    unset arrow
    unset label
    set tmargin at screen 1 - ((p - 1) * panel_height + 30) / height  # room for the title
    set bmargin at screen 1 - (p * panel_height - 60) / height        # and for the axis
    set title titles[p] offset 0,-0.6
    set yrange [low[p] : high[p]]
    set arrow noises + 1 from graph 0,first 1 to graph 1,first 1 nohead lw 0.7 dt 2 lc rgb '#909090' back
    if (p == panels) { set xlabel 'traffic of the noise itself, GB/s; left of 0: none' offset 0,0.4 }
    do for [n = 1 : noises] {
        i = (p - 1) * noises + n
        set arrow n from gb_per_s[n],values[i] to graph 1.02,places[i] nohead lw 0.5 lc rgb '#b0b0b0' back
        set label n names[n] at graph 1.03,places[i] left tc rgb colours[n]
    }
    plot files[p] skip 1 using 1:2:3:4:5 with yerrorbars pt 7 ps 0.6 lw 1.2 lc rgb variable
}
unset multiplot
