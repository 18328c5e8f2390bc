// SPDX-License-Identifier: Apache-2.0
// Tests of reports before and after a change: differences by hand, refusals, and printed text.
#include "analysis/estimate/difference.hpp"
#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/random.hpp"
#include "testing/interference_runs.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <vector>

using analysis::difference;
using analysis::Estimated;
using analysis::EstimatedDifference;
using testing::program;
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::json;

Json noise(double percent, double low, double high)
{
    return {{"verdict", "unsafe"}, {"effect_percent", percent},  {"low_percent", low}, {"high_percent", high},
            {"level", ""},         {"stressor", "memory.stream"}};
}

// A report of a run that began at this minute.
Json report(int minute, const Json& factors)
{
    return {{"format", 1},
            {"trustworthy", true},
            {"reasons", Json::array()},
            {"quiet_step_ms", 20.0},
            {"budget_percent", 1.0},
            {"confidence_percent", 95.0},
            {"slot_seconds", 0.2},
            {"stopping", nullptr},
            {"identity",
             {{"hosts", {"n1"}},
              {"model", "mlp"},
              {"data", "digits"},
              {"strategy", "ddp"},
              {"ranks", 2},
              {"cpu_model", "Xeon"},
              {"started", "2026-11-01T12:0" + std::to_string(minute) + ":00Z"},
              {"schedule", "rotation(mem, io, placebo)"},
              {"seed", "1"},
              {"step_is", ""}}},
            {"factors", factors}};
}

void write(const fs::path& run, const Json& verdict)
{
    fs::create_directories(run / "report");
    base::write_whole(run / "report/verdict.json", verdict.dump());
}

testing::Outcome diff(const fs::path& before, const fs::path& after, const std::vector<std::string>& more = {})
{
    std::vector<std::string> words{program, "diff", before.string(), after.string()};
    words.insert(words.end(), more.begin(), more.end());
    return testing::run(words);
}

bool has(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

const Json worse_factors = {{"mem", noise(4.0, 3.0, 5.0)}, {"io", noise(1.0, 0.0, 2.0)}};
const Json better_factors = {{"mem", noise(1.0, 0.0, 2.0)}, {"io", noise(1.5, 0.5, 2.5)}};

}  // namespace

// By hand: the error is sqrt(0.25 + 0.09), the degrees of freedom 0.34^2 / (0.25^2 / 9 + 0.09^2 / 14) = 15.366. The
// quantile 2.12703 and p are from a numeric integration of Student's density.
TEST_CASE("the difference of two Student's t intervals is Welch's")
{
    const Estimated before{5.0, {3.8689214186, 6.1310785814}, 0.5, 9.0};
    const Estimated after{2.0, {1.3565639936, 2.6434360064}, 0.3, 14.0};
    const EstimatedDifference found = difference(before, after, 0.95);
    CHECK(found.by_welch);
    CHECK(found.value == -3.0);
    CHECK(found.interval.low == doctest::Approx(-4.24026).epsilon(1e-5));
    CHECK(found.interval.high == doctest::Approx(-1.75974).epsilon(1e-5));
    CHECK(found.p == doctest::Approx(1.11003e-4).epsilon(1e-3));
}

// By hand: distances of the lower bounds 4 - 3 = 1 and 14 - 10 = 4, of the upper bounds 8 - 4 = 4 and 10 - 8 = 2.
TEST_CASE("the difference of intervals that are not symmetric has the distances from their bounds in squares")
{
    const EstimatedDifference found = difference({10.0, {8.0, 14.0}, {}, {}}, {4.0, {3.0, 8.0}, {}, {}}, 0.95);
    CHECK_FALSE(found.by_welch);
    CHECK(found.interval.low == doctest::Approx(-6.0 - std::sqrt(17.0)));
    CHECK(found.interval.high == doctest::Approx(-6.0 + std::sqrt(20.0)));
    CHECK(found.p == doctest::Approx(0.0085494).epsilon(1e-3));  // two-sided p of 1.95996 * 6 / sqrt(20), normal
}

TEST_CASE("an interval that ends at zero has p = 5 %, and equal estimates have no difference")
{
    const EstimatedDifference edge = difference({0.0, {-3.0, 3.0}, {}, {}}, {5.0, {1.0, 12.0}, {}, {}}, 0.95);
    CHECK(edge.interval.low == doctest::Approx(0.0));
    CHECK(edge.p == doctest::Approx(0.05).epsilon(1e-4));
    CHECK(difference({2.0, {1.0, 3.0}, {}, {}}, {2.0, {1.0, 3.0}, {}, {}}, 0.95).p == 1.0);
}

// The blocks of the first run have six times the standard deviation, and there are fewer of them.
TEST_CASE("intervals of differences hold the truth in 95 of 100 made runs")
{
    base::Random random{7};
    const auto run_of = [&](int blocks, double effect, double deviation) {
        std::vector<double> values;
        for (int block = 0; block < blocks; ++block) values.push_back(effect + deviation * base::draw_normal(random));
        const base::Mean mean = base::mean_of(values);
        return Estimated{mean.value, mean.interval(0.95), mean.standard_error, mean.degrees_of_freedom};
    };
    constexpr int repetitions = 4000;
    int welch = 0;
    int mover = 0;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        Estimated before = run_of(6, 5.0, 3.0);
        Estimated after = run_of(14, 3.0, 0.5);
        welch += difference(before, after, 0.95).interval.contains(-2.0) ? 1 : 0;
        before.standard_error.reset();
        mover += difference(before, after, 0.95).interval.contains(-2.0) ? 1 : 0;
    }
    // Three standard errors of a share of 95 % are 1.03 points.
    CHECK(std::abs(welch - 0.95 * repetitions) < 0.0115 * repetitions);
    CHECK(mover >= welch);
    CHECK(mover < 0.975 * repetitions);
}

TEST_CASE("a diff answers in one sentence, in a table, and with --fail-on in its exit code")
{
    const testing::Scratch scratch;
    write(scratch / "slow", report(1, worse_factors));
    write(scratch / "fast", report(2, better_factors));
    const testing::Outcome better =
        diff(scratch / "slow", scratch / "fast", {"--out", (scratch / "out").string(), "--fail-on", "worse"});
    INFO(better.out, better.err);
    CHECK(better.status == 0);
    // mem: 3 points +- sqrt(1 + 1); io: -0.91 to 1.91
    CHECK(has(better.out,
              "After the change mem costs 3.00 points less (1.59 to 4.41); no difference is seen for io "
              "(-0.91 to 1.91 points)"));
    CHECK(has(better.out, "one run on each side"));
    const base::CsvTable table{scratch / "out/diff.csv"};
    REQUIRE(table.rows() == 2);
    CHECK(table.text(1, "noise") == "mem");
    CHECK(table.get<double>(1, "difference_points") == doctest::Approx(-3.0));
    CHECK(table.get<double>(1, "high_points") == doctest::Approx(-3.0 + std::sqrt(2.0)));
    CHECK(table.text(1, "change") == "better");
    CHECK(table.text(0, "change") == "alike");

    const testing::Outcome worse = diff(scratch / "fast", scratch / "slow/report", {"--fail-on", "worse"});
    CHECK(worse.status == 1);
    CHECK(has(worse.out, "mem costs 3.00 points more (1.59 to 4.41)"));
    CHECK(has(worse.err, "mem is worse (--fail-on worse)"));
    const Json json = Json::parse(diff(scratch / "fast", scratch / "slow", {"--format", "json"}).out);
    CHECK(json["noises"][1]["difference_points"] == 3.0);
    CHECK(json["noises"][1]["method"] == "mover");
    CHECK(has(diff(scratch / "fast", scratch / "slow", {"--format", "md"}).out, "| mem | +1.00 % (0.00 to 2.00 %) |"));
}

TEST_CASE("several noises are corrected for: one that stands out by its own interval alone is no change")
{
    const testing::Scratch scratch;
    Json before;
    Json after;
    for (int n = 0; n < 6; ++n) {
        const std::string name = "n" + std::to_string(n);
        before[name] = noise(1.0, 0.0, 2.0);
        after[name] = n == 0 ? noise(2.5, 1.5, 3.5) : noise(1.0, 0.0, 2.0);  // 1.5 +- 1.41: p = 0.038; times six 0.23
    }
    write(scratch / "a", report(1, before));
    write(scratch / "b", report(2, after));
    const testing::Outcome outcome = diff(scratch / "a", scratch / "b", {"--fail-on", "worse"});
    CHECK(outcome.status == 0);
    CHECK(has(outcome.out, "No difference is seen after the change"));
}

TEST_CASE("reports that cannot be compared are refused in one line")
{
    const testing::Scratch scratch;
    write(scratch / "a", report(1, worse_factors));
    const auto refused = [&](const Json& other, const std::string& why) {
        write(scratch / "b", other);
        const testing::Outcome outcome = diff(scratch / "a", scratch / "b");
        INFO(outcome.out, outcome.err);
        CHECK(outcome.status == 2);
        CHECK(testing::one_line(outcome.err));
        CHECK(has(outcome.err, why));
    };
    const auto with = [](const char* pointer, const Json& value) {
        Json json = report(2, better_factors);
        json[Json::json_pointer{pointer}] = value;
        return json;
    };
    refused(with("/identity/schedule", "rotation(mem, placebo)"), "their schedules are");
    refused(with("/identity/step_is", "a step lasts from line to line"), "a step is not the same thing in both");
    refused(with("/confidence_percent", 99.0), "the confidences of their intervals are");
    refused(with("/factors", {{"net", noise(1.0, 0.0, 2.0)}}), "no noise in common");
    refused(with("/factors", Json::object()), "has no noise but controls");
    refused(report(1, worse_factors), "are the same run");
    Json untrusted = with("/trustworthy", false);
    untrusted["reasons"] = {"the placebo is off"};
    refused(untrusted, "is not trustworthy: the placebo is off");
    CHECK(diff(scratch / "a", scratch / "a").status == 2);
    CHECK(has(diff(scratch / "a", scratch / "none").err, "there is no directory"));
    fs::create_directory(scratch / "empty");
    CHECK(has(diff(scratch / "a", scratch / "empty").err, "has no report: interference analyse"));
}

TEST_CASE("what changes beside the effects is a limit of the comparison")
{
    const testing::Scratch scratch;
    write(scratch / "a", report(1, worse_factors));
    Json other = report(2, better_factors);
    other["identity"]["model"] = "resnet18";
    other["quiet_step_ms"] = 30.0;
    other["budget_percent"] = 2.0;
    other["slot_seconds"] = 0.6;
    other["factors"]["net"] = noise(1.0, 0.0, 2.0);
    other["pooled"] = {{"unit", "run"}, {"runs", {{{"name", "r1"}}, {{"name", "r2"}}, {{"name", "r3"}}}}};
    write(scratch / "b", other);
    const std::string said = diff(scratch / "a", scratch / "b").out;
    INFO(said);
    for (const char* part :
         {"another model (mlp before, resnet18 after)", "a quiet step takes 50.0 % longer than before",
          "the budget is 1 % before and 2 % after", "slots are 0.20 s long before and 0.60 s after",
          "net was measured after the change only", "one run before the change", ", 3 runs,"})
        CHECK(has(said, part));
}

TEST_CASE("a report that is no report is refused, whatever is in it")
{
    const testing::Scratch scratch;
    write(scratch / "a", report(1, worse_factors));
    const std::string whole = report(2, better_factors).dump();
    base::Random random{3};
    fs::create_directories(scratch / "b/report");
    for (const char* text : {"", "{", "{}", "[]", "3", R"({"identity": 3})", R"({"trustworthy": true})"}) {
        base::write_whole(scratch / "b/report/verdict.json", text);
        const testing::Outcome outcome = diff(scratch / "a", scratch / "b");
        CHECK(outcome.status == 1);
        CHECK(testing::one_line(outcome.err));
    }
    for (int i = 0; i < 40; ++i) {
        std::string damaged = whole;
        testing::mutate(damaged, random);
        base::write_whole(scratch / "b/report/verdict.json", damaged);
        const testing::Outcome outcome = diff(scratch / "a", scratch / "b");
        CAPTURE(damaged);
        CHECK((outcome.status >= 0 && outcome.status <= 2));
        if (outcome.status != 0) CHECK(testing::one_line(outcome.err));
    }
}
