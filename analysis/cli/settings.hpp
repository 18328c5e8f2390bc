// SPDX-License-Identifier: Apache-2.0
// The options that the commands of interference share.
#pragma once

#include "analysis/conclude/verdict.hpp"
#include "analysis/input/designed_run.hpp"
#include "analysis/input/steps.hpp"
#include "base/cli/options.hpp"
#include "trace-tools/steps/chosen_steps.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace analysis {

struct Settings {
    base::Percent budget{1.0};
    base::Percent confidence{95.0};
    std::string budget_text = "1%";  // as given; check() reads it into the above
    std::string confidence_text = "95%";
    std::string warm_up_text = "10";
    std::int64_t warm_up = 10;          // steps
    base::Nanoseconds warm_up_time{0};  // instead of these, if longer than nothing
    bool warm_up_until_noise = false;   // at least these, and all that end before the first slot
    base::Nanoseconds guard{0};
    int draws = 9999;
    std::uint64_t seed = 1;
    std::string clock_offset;
    std::string fail_on;
    std::string again;
    std::string format = "text";  // of what is printed: text, md, json or html
    bool pdf = false;             // print the page into report.pdf
    std::string empty_node;       // a noise run on it: its directory, or its noise.csv
    double node_hour_cost = 0.0;  // 0: not given
    bool looked = false;          // the run may have been ended at a look, so intervals are to hold at all of them
    otf2::StepChoice steps;
    std::string step_is;  // as `crosstalk run` recorded it, for people; empty: the archive says it

    std::optional<std::int64_t> clock_offset_ns() const;
};

// Number of first steps that are the warm-up: without noise, or by the run's slots.
std::int64_t warm_up_steps(const Settings& settings, const StepTable& steps);
std::int64_t warm_up_steps(const Settings& settings, const DesignedRun& run);

// --budget, --warmup, --confidence.
void add_common(base::Options& options, Settings& settings);

// --step-region, --step-from.
void add_step_choice(base::Options& options, Settings& settings);

// --format.
void add_format(base::Options& options, Settings& settings);

// All, for the analysis of a designed run.
void add_settings(base::Options& options, Settings& settings);

// Reads what is kept as text: "5" is a budget of 5 %, "0.9" a confidence of 90 %. Throws UsageError for a value out of
// its range.
void check(Settings& settings);

// Throws UsageError for a word that --fail-on does not know.
void check_fail_on(const std::string& fail_on);

// The part of --fail-on that the verdict meets; empty if none.
std::string failure(const Verdict& verdict, const std::string& fail_on);

struct JudgedNoise {
    std::string name;
    std::string verdict;
};
std::string failure(bool trustworthy, const std::vector<JudgedNoise>& noises, const std::string& fail_on);

}  // namespace analysis
