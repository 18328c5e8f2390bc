// SPDX-License-Identifier: Apache-2.0
// ddl-train, which records its own archive and cooperates in control.delay.
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "crosstalk/programs/programs.hpp"
#include "crosstalk/run/request/ended.hpp"
#include "crosstalk/run/sources/step_source.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr base::Nanoseconds noise_may_prepare = std::chrono::hours{1};
constexpr int quiet_steps = 24;
constexpr std::int64_t first_quiet_step = 8;  // earlier steps are warm-up

// The median over steps that every rank took after the warm-up; 0 if there are none.
double median_step_ns(const fs::path& steps)
{
    const base::CsvTable table{steps};
    std::vector<std::int64_t> lengths;
    for (std::size_t row = 0; row < table.rows(); ++row)
        if (table.get<std::int64_t>(row, "step") >= first_quiet_step)
            lengths.push_back(table.get<std::int64_t>(row, "end_ns") - table.get<std::int64_t>(row, "begin_ns"));
    if (lengths.empty()) return 0.0;
    std::sort(lengths.begin(), lengths.end());
    return static_cast<double>(lengths[lengths.size() / 2]);
}

class DdlTrain : public StepSource {
 public:
    explicit DdlTrain(MeasuredJob& job) : StepSource{job}
    {
        if (names("--out")) base::fail_usage("give --out to crosstalk run, not to ddl-train");
    }

    Words words() const override
    {
        const Request& request = job_.request;
        Words words = training_words(request.out);
        if (!names("--duration") && !names("--steps"))  // normally it is asked to end before that
            words.insert(words.end(),
                         {"--duration", base::format(request.duration +
                                                     (request.ends_job ? noise_may_prepare : base::Nanoseconds{}))});
        if (!names("--control-delay")) words.insert(words.end(), {"--control-delay", job_.control_delay});
        if (!names("--openmetrics")) std::ranges::copy(metrics_words(), std::back_inserter(words));
        // A host delay may be hidden by work queued on a GPU; the trace shows how much.
        if (computes_on_gpu() && !names("--trace-gpu")) words.emplace_back("--trace-gpu");
        return words;
    }

    bool cooperates() const override { return true; }
    bool is_complete_training() const override { return true; }
    bool ends_by_its_processes() const override { return true; }
    bool reads_output() const override { return false; }
    std::optional<std::size_t> steps_so_far() const override { return rows_of_own_table(); }
    std::string advice() const override { return "waiting for ddl-train's first steps"; }
    Words finish(const LineKinds&) override { return {}; }

    void measure_quiet_step() override
    {
        if (!job_.control_delay.ends_with('%') || names("--control-delay")) return;
        const auto share = base::parse<base::Percent>(job_.control_delay);
        const fs::path scratch = job_.request.out / base::part::log / "quiet_step";
        const fs::path log = job_.request.out / base::part::log / "quiet_step.log";
        base::remove_tree(scratch);  // left by a killed run
        Words words = training_words(scratch);
        words.insert(words.end(), {"--steps", std::to_string(quiet_steps)});
        const int code = wait_for(*start({.words = words, .folder = {}, .output = log, .errors = log}, job_.cpus));
        if (code != 0) {
            for (const std::string& line : last_words_in(log)) base::warn(line);
            throw Ended{code == base::exit_usage ? base::exit_usage : base::exit_failed,
                        "the short training that measures a quiet step failed: see " + log.string()};
        }
        const double step_ns = median_step_ns(scratch / base::part::train / base::file::steps);
        base::remove_tree(scratch);
        if (step_ns <= 0.0) base::fail("the short training took too few steps: see ", log.string());
        const auto whole_us = [](double ns) { return base::format(base::Nanoseconds{1000 * std::llround(ns / 1e3)}); };
        job_.control_delay = whole_us(step_ns * share.fraction());
        base::warn("a quiet step takes ", whole_us(step_ns), "; the known delay is ", job_.control_delay);
    }

 private:
    Words training_words(const fs::path& out) const
    {
        Words words = job_.request.command;
        for (std::string& word : words)
            if (word == "ddl-train") word = program(word);
        if (!job_.cpus.empty() && !names("--cpus")) words.insert(words.end(), {"--cpus", base::format_cpus(job_.cpus)});
        words.insert(words.end(), {"--out", out.string()});
        return words;
    }

    bool computes_on_gpu() const
    {
        const Words& words = job_.request.command;
        const auto device = std::find(words.begin(), words.end(), "--device");
        if (device != words.end() && std::next(device) != words.end() && std::next(device)->starts_with("cuda"))
            return true;
        return std::any_of(words.begin(), words.end(), [](const std::string& word) {
            return word.find("device=cuda") != std::string::npos;  // an option of --device, or of the emulated model
        });
    }
};

}  // namespace

extern const StepSourceCard ddl_train_source{.takes =
                                                 [](const Request& request) {
                                                     return std::any_of(request.command.begin(), request.command.end(),
                                                                        is_ddl_train);
                                                 },
                                             .make = make_source<DdlTrain>};

}  // namespace crosstalk
