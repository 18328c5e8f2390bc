// SPDX-License-Identifier: Apache-2.0
// Options that the commands of interference share.
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
    std::string budget_text = "1%";  // as given; check() parses it into the budget above
    std::string confidence_text = "95%";
    std::string warm_up_text = "10";
    std::int64_t warm_up = 10;          // in steps
    base::Nanoseconds warm_up_time{0};  // used instead of warm_up if greater than 0
    // The warm-up is at least warm_up steps, and all steps that end before the first slot.
    bool warm_up_until_noise = false;
    base::Nanoseconds guard{0};
    int draws = 9999;
    std::uint64_t seed = 1;
    std::string clock_offset;
    std::string fail_on;
    std::string again;
    std::string format = "text";  // format of the printed report: text, md, json or html
    bool pdf = false;             // print the page into report.pdf
    std::string empty_node;       // directory or noise.csv of a run of the noise on an empty node
    double node_hour_cost = 0.0;  // 0: not given
    Looks looks = Looks::none;    // whether the run was checked repeatedly while it ran
    otf2::StepChoice steps;
    std::string step_is;  // definition of a step for people, as `crosstalk run` recorded it; empty: from the archive

    std::optional<std::int64_t> clock_offset_ns() const;
};

// Number of steps of the warm-up: of a training without noise, or of a run with slots.
std::int64_t warm_up_steps(const Settings& settings, const StepTable& steps);
std::int64_t warm_up_steps(const Settings& settings, const DesignedRun& run);

// Adds --budget, --warmup and --confidence.
void add_common(base::Options& options, Settings& settings);

// Adds --step-region and --step-from.
void add_step_choice(base::Options& options, Settings& settings);

// Adds --format.
void add_format(base::Options& options, Settings& settings);

// Adds all options for the analysis of a designed run.
void add_settings(base::Options& options, Settings& settings);

// Parses the settings that are kept as text: "5" is a budget of 5 %, "0.9" a confidence of 90 %. Throws UsageError for
// a value out of its range.
void check(Settings& settings);

// Throws UsageError for a condition that --fail-on does not know.
void check_fail_on(const std::string& fail_on);

// The condition of --fail-on that the verdict meets; empty if it meets none.
std::string failure(const Verdict& verdict, const std::string& fail_on);

struct JudgedNoise {
    std::string name;
    std::string verdict;
};
std::string failure(bool trustworthy, const std::vector<JudgedNoise>& noises, const std::string& fail_on);

}  // namespace analysis
