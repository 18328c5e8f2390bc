// SPDX-License-Identifier: Apache-2.0
// The report's answer in sentences: the verdicts, what they mean, and how to measure further.
#pragma once

#include "analysis/results/report.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// A sentence on the measurement: "512 steps measured, a quiet step takes 20.15 ms, budget 1 %".
std::string measured(const Report& report);

// The answer in one line: "Unsafe: io.write, memory.stream; safe: network.exchange".
std::string headline(const Report& report);

// A sentence on what the intervals of the report cover.
std::string scope(const Report& report);

// True value of a control: "5.49 %", or "not recorded".
std::string truth_of(const std::optional<Control>& control);

// How many times as wide the intervals of the verdicts are as those of a run whose length was fixed.
double price_of_looking(const Report& report);

// The noises of one verdict, "mem, io[rate=4GiB/s]", then the answer for them: " may run beside this training: ...".
struct Answer {
    std::string before;
    std::vector<std::string> noises;
    std::string after;
};
std::vector<Answer> answers(const Verdict& verdict);

// Explains slowdown and its three verdicts.
std::string slowdown_note(const Report& report);

// How to measure further: for the forecast length if a factor is undecided and has a forecast, else for the length of
// this run. None if no command is known.
struct Again {
    std::string what;  // "Run this again for ± 0.75 %, 14 min", "Measure on for .., 690 s more"
    std::optional<double> half_width_percent;  // expected half width
    double seconds = 0.0;                      // total length, with the time measured so far if the command adds to it
    std::string command;                       // command line for a shell
};
std::optional<Again> again(const Report& report);

}  // namespace analysis
