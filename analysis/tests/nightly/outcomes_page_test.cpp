// SPDX-License-Identifier: Apache-2.0
// The page on soft-error trials in a browser, and printed.
#include "analysis/outcomes/tables.hpp"
#include "base/contract/stored_state.hpp"
#include "base/random.hpp"
#include "testing/browser.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t end = 300;

// Trials with ten layers whose names are as long as a transformer's, all bits, two moments, guards, and stored weights
// in all codes.
analysis::TrialRun trials_of(const std::string& strategy, std::uint64_t seed)
{
    analysis::TrialRun run{.directory = "trials/" + strategy,
                           .model = "gpt[size=nano,context=64]",
                           .strategy = strategy,
                           .trials = {},
                           .outcomes = {},
                           .held_out = 360,
                           .chance = 0.1,
                           .parameters = {},
                           .ranks = 2};
    base::Random random = base::random_stream(seed, 1);
    const auto add = [&](base::Trial trial, base::Outcome outcome) {
        trial.name = "b01." + std::to_string(run.trials.size() + 1);
        trial.steps = end - trial.step;
        outcome.trial = trial.name;
        outcome.kind = trial.kind;
        outcome.strategy = strategy;
        outcome.step = trial.step;
        outcome.guard = trial.guard;
        outcome.largest = 1.0;
        outcome.seconds = 1.0 + 0.001 * static_cast<double>(base::draw_below(random, 100));
        run.trials.push_back(trial);
        run.outcomes.push_back(outcome);
    };
    for (const std::int64_t step : {60, 240}) {
        for (const std::string guard : {"none", "range=2+norm=10x:rollback=10"}) {
            for (int i = 0; i < 2; ++i) {
                add({.name = {}, .kind = base::trial_kind::null, .step = step, .guard = guard},
                    {.what = base::outcome_class::masked, .accuracy = 0.95, .accuracies = "0:0.9"});
                add({.name = {}, .kind = base::trial_kind::positive, .step = step, .guard = guard},
                    {.what = base::outcome_class::collapsed, .accuracy = 0.1, .caught = guard == "none" ? "" : "0"});
            }
            for (int i = 0; i < 320; ++i) {
                const bool ruined = i % 32 == 1 || base::draw_below(random, 40) == 0;
                const std::string tensor =
                    "model/transformer.blocks." + std::to_string(i % 10) + ".attention.query.weight";
                add({.name = {}, .step = step, .target = i % 3 == 0 ? "optimizer" : "model", .guard = guard},
                    {.path = tensor,
                     .bits = std::to_string(i % 32),
                     .what = base::outcome_class::ended,
                     .accuracy = ruined ? 0.5 : 0.95,
                     .caught = guard == "none" || !ruined ? "" : "1",
                     .drawn_from = 1e6,
                     .accuracies = "0:0.9"});
            }
        }
        double fragile = 0.0;
        for (const char* store : base::stored::codes) {
            fragile += 100.0;
            for (const char* detect : {"none", "both"})
                for (const double rate : {0.0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2})
                    for (int i = 0; i < 3; ++i)
                        add({.name = {},
                             .kind = base::trial_kind::stored,
                             .step = step,
                             .store = store,
                             .detect = detect,
                             .rate = rate,
                             .reads = "once"},
                            {.what = base::outcome_class::ended,
                             .accuracy = 0.95 / (1.0 + fragile * rate) - 0.01 * i,
                             .accuracies = "0:0.9"});
        }
    }
    return run;
}

fs::path made_page(const fs::path& folder)
{
    const analysis::Bands bands{{{"gpt[size=nano,context=64]", end}, {.accuracies = {0.94, 0.95, 0.96}, .low = 0.9}}};
    analysis::TrialRun noisy = trials_of("ddp", 3);
    noisy.noise = "memory.stream 1s";
    analysis::write_outcomes(folder / "report",
                             analysis::outcome_report({trials_of("ddp", 1), trials_of("cycle", 2), noisy}, bands,
                                                      analysis::ProportionInterval::wilson,
                                                      analysis::ErrorRate{.per_mbit = 1000.0, .run_hours = 24.0}));
    return folder / "report/index.html";
}

}  // namespace

TEST_CASE("a browser shows all of the page of soft errors on a phone, a tablet and a screen, and prints it")
{
    if (testing::browser().empty()) return testing::skip("chromium is not there");
    const testing::Scratch scratch;
    const fs::path page = made_page(scratch.path());
    testing::check_links(page);
    testing::check_on_screens(scratch.path(), page);
    if (testing::found({"pdftotext"}).empty()) return testing::skip("pdftotext is not there");
    const testing::Printed printed = testing::print_page(scratch.path(), page, "A4");
    CHECK(printed.words > 300);
    CHECK(printed.first_sheet().find(">share<") != std::string::npos);  // a label under the plot
}
