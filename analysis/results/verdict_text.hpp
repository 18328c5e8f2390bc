// SPDX-License-Identifier: Apache-2.0
// The report's answer in sentences: the verdicts, what they mean, and how to measure further.
#pragma once

#include "analysis/results/report.hpp"

#include <string>
#include <vector>

namespace analysis {

// The answer in one line: "Unsafe: io.write, memory.stream; safe: network.exchange".
std::string headline(const Report& report);

// The noises of one verdict, "mem, io[rate=4GiB/s]", then the answer for them: " may run beside this training: ...".
struct Answer {
    std::string before;
    std::vector<std::string> noises;
    std::string after;
};

struct VerdictText {
    std::string headline;
    std::string measured;  // on the measurement: "512 steps measured, a quiet step takes 20.15 ms, budget 1 %"
    std::string scope;     // what the intervals cover
    std::vector<Answer> answers;
    std::string slowdown_note;  // explains slowdown and its three verdicts
    std::string delay_truth;    // true value of the control: "5.49 %", or "not recorded"
    std::string pause_truth;
    double price_of_looking = 1.0;  // width of the verdicts' intervals, in widths of those of a run of fixed length
};
VerdictText verdict_text(const Report& report);

}  // namespace analysis
