// SPDX-License-Identifier: Apache-2.0
// The look of a report: one style sheet, light and dark, no reference to anything outside.
#pragma once

namespace analysis {

inline constexpr const char* html_style = R"css(
:root { color-scheme: light dark; --ground: #f6f7f9; --paper: #ffffff; --ink: #1c2430; --quiet: #5c6878; --line: #dfe3e9;
  --safe: #0a7a55; --safe-ground: #e3f5ee; --unsafe: #b3261e; --unsafe-ground: #fdeceb; --open: #8a5a00;
  --open-ground: #fdf3dc; --dot: #606060; --dim: #b0b0b0;
  --alarm: #d03030; --truth: #6a6a6a; --zero: #707070; --grid: #a0a0a0;
  --training: #0072b2; --noise: #e69f00; --both: #c02f2f; --on-square: #ffffff; }
@media screen and (prefers-color-scheme: dark) { :root { --ground: #12161c; --paper: #1b2129; --ink: #e6eaf0; --quiet: #9aa6b5;
  --line: #323b47; --safe: #5fd3a8; --safe-ground: #12342a; --unsafe: #ff9087; --unsafe-ground: #43201e; --open: #f2c14e;
  --open-ground: #3b2f12; --dot: #cdd5df; --dim: #5d6977;
  --alarm: #ff8078; --truth: #d9dfe7; --zero: #aab4c0; --grid: #6b7685;
  --training: #56b4e9; --noise: #ffc04d; --both: #ff8078; --on-square: #10141a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1160px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 27px; line-height: 1.2; margin: 0 0 4px; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 0 0 10px; }
h3 { font-size: 15px; margin: 22px 0 6px; }
p { margin: 0 0 10px; max-width: 82ch; }
.sub { color: var(--quiet); margin-bottom: 20px; overflow-wrap: anywhere; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 10px; padding: 20px 22px; margin: 16px 0; }
.banner { border-radius: 10px; padding: 14px 18px; margin: 16px 0; border: 1px solid; }
.banner h2 { margin-bottom: 4px; }
.banner ul { margin: 4px 0 0; padding-left: 20px; }
.banner.good { color: var(--safe); background: var(--safe-ground); }
.banner.bad { color: var(--unsafe); background: var(--unsafe-ground); }
.answer { font-size: 17px; max-width: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--quiet); font-size: 13px; }
th, td { padding: 7px 14px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody tr:last-child td { border-bottom: 0; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.wide { min-width: 220px; overflow-wrap: anywhere; }
.outlook { min-width: 185px; }
td > .name { overflow-wrap: anywhere; min-width: 200px; } td.number.strong { font-weight: 700; }
td.number.faint { color: var(--quiet); }
td.key { color: var(--quiet); white-space: nowrap; width: 1%; padding-right: 22px; }
.badge { display: inline-block; border-radius: 999px; padding: 1px 11px; font-weight: 600; font-size: 13.5px; white-space: nowrap; }
.safe { color: var(--safe); background: var(--safe-ground); }
.unsafe { color: var(--unsafe); background: var(--unsafe-ground); }
.undecided, .insensitive, .untrusted { color: var(--open); background: var(--open-ground); }
.dot { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 8px; }
.big { font-size: 19px; font-weight: 650; white-space: nowrap; }
.small { color: var(--quiet); font-size: 13px; max-width: none; }
p.small { margin: 8px 0 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(310px, 1fr)); gap: 12px; }
.tile { border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px; }
.tile .name { font-size: 13px; color: var(--quiet); }
.tile .value { font-size: 17px; font-weight: 650; margin: 2px 0; }
.tile .mark-good { color: var(--safe); } .tile .mark-bad { color: var(--unsafe); }
figure { margin: 14px 0 4px; } figure svg { width: 100%; height: auto; display: block; }
figure svg text { fill: var(--ink); }
figure svg [stroke="black"], figure svg g[color="black"] > path[stroke="currentColor"] { stroke: var(--quiet); }
.dense table { font-size: 12.5px; } .dense th, .dense td { padding: 5px 7px 5px 0; } .dense th { font-size: 12.5px; }
.dense th.number { white-space: normal; } .dense td > .name { min-width: 150px; }
figcaption { color: var(--quiet); font-size: 13px; margin-top: 4px; }
th button { all: unset; cursor: pointer; } th button:focus-visible, summary:focus-visible, a:focus-visible {
  outline: 2px solid var(--ink); outline-offset: 2px; }
th[aria-sort="ascending"] button::after { content: " \2191"; } th[aria-sort="descending"] button::after { content: " \2193"; }
details { margin: 6px 0 0; font-size: 13px; } summary { color: var(--quiet); cursor: pointer; width: fit-content; }
dl { display: grid; grid-template-columns: minmax(90px, max-content) 1fr; gap: 4px 16px; margin: 8px 0; }
dt { font-weight: 600; } dd { margin: 0; max-width: 82ch; }
code { font: 12.5px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
ul.plain { margin: 0; padding-left: 20px; } ul.plain li { margin: 4px 0; max-width: 95ch; overflow-wrap: anywhere; }
td.number .half { color: var(--quiet); font-weight: 400; font-size: 0.9em; }
.again { margin: 12px 0; max-width: none; }
.nodes { display: flex; flex-wrap: wrap; gap: 12px 28px; } .node { min-width: 0; max-width: 100%; }
.node svg { display: block; width: 100%; min-width: 60px; height: auto; margin-top: 4px; }
.node text.cpu { font-size: 11px; text-anchor: middle; fill: var(--on-square); }
.had-training { fill: var(--training); background: var(--training); } .had-noise { fill: var(--noise); background: var(--noise); }
.had-both { fill: var(--both); background: var(--both); }
.had-nobody { fill: none; background: none; stroke: var(--quiet); border: 1px solid var(--quiet); }
.node .had-nobody + text.cpu { fill: var(--quiet); } .node .had-noise + text.cpu { fill: #10141a; }
.key-word { white-space: nowrap; margin-right: 14px; } .option { white-space: nowrap; }
.paper { display: none; }
a { color: inherit; }
@media screen and (max-width: 1040px) { .verdicts thead { display: none; }
  .verdicts tr { display: block; padding: 10px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
  .verdicts tbody tr:last-child { border-bottom: 0; }
  .verdicts td, .verdicts td.number { display: block; border: 0; padding: 3px 0; text-align: left; min-width: 0; }
}
@media screen and (max-width: 1040px) { .dense thead { display: none; }
  .dense tr { display: grid; grid-template-columns: repeat(auto-fill, minmax(270px, 1fr)); column-gap: 28px; padding: 6px 0;
    border-bottom: 1px solid var(--line); }
  .dense tbody tr:last-child { border-bottom: 0; }
  .dense td, .dense td.number { display: flex; justify-content: space-between; gap: 14px; border: 0; padding: 1px 0;
    white-space: normal; text-align: right; width: auto; min-width: 0; overflow-wrap: anywhere; }
  .dense td[data-title]::before { content: attr(data-title); color: var(--quiet); text-align: left; }
  .dense td:empty { display: none; } td > .name, .dense td > .name { min-width: 0; }
}
@media (max-width: 620px) { main { padding: 16px 10px; } section { padding: 14px; }
  figure { overflow-x: auto; } figure svg { min-width: 620px; } }
@page { margin: 10mm; }
@media print { :root { --ground: #ffffff; } .screen { display: none; } .paper { display: block; }
  body { font-size: 9.5px; line-height: 1.35; } main { max-width: none; padding: 0; }
  h1 { font-size: 19px; } h2 { font-size: 13px; margin-bottom: 4px; } h3 { font-size: 11px; margin: 6px 0 2px; }
  p, .sub, .again { margin: 0 0 4px; } .answer { font-size: 11.5px; } .small, p.small, figcaption { font-size: 8.5px; }
  code { font-size: 8.5px; } .badge { font-size: 10px; } .big { font-size: 13px; }
  section { padding: 2px 0; margin: 4px 0; border: 0; } .banner { padding: 5px 10px; margin: 4px 0; }
  .scroll { overflow: visible; } .banner, .tile, tr, figure, h2, h3, h3 + figure { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  th, td { padding: 3px 8px 3px 0; } th { font-size: 9px; } td.wide { min-width: 150px; } .outlook { min-width: 0; }
  .verdicts td.wide:last-child { width: 45%; }
  .dense table, .dense th { font-size: 8px; } .dense th, .dense td { padding: 2px 4px 2px 0; }
  .dense .dot { margin-right: 3px; }
  .tiles { grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 5px; } .tile { padding: 3px 8px; }
  .tile .name { font-size: 8.5px; } .tile .value { font-size: 11px; margin: 0; } .tile .small { display: none; }
  figure { margin: 2px 0; } figure svg { max-height: var(--paper); }
  .nodes svg { zoom: 0.6; } ul.plain li { margin: 1px 0; max-width: none; } }
)css";

}  // namespace analysis
