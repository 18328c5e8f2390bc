// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/junit.hpp"

#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/markup.hpp"

#include <nlohmann/json.hpp>

#include <string_view>

namespace crosstalk {

namespace {

using Verdict = nlohmann::ordered_json;

std::string test_case(std::string_view name, std::string_view outcome, const std::string& message)
{
    const std::string begin =
        base::join("  <testcase classname=\"crosstalk\" name=\"", base::escape_markup(name), "\"");
    if (outcome.empty()) return begin + "/>\n";
    return base::join(begin, "><", outcome, " message=\"", base::escape_markup(message), "\"/></testcase>\n");
}

std::string effect(const Verdict& factor)
{
    const auto percent = [&](const char* name) { return base::percent(factor.at(name).get<double>(), 2); };
    return base::join("slowdown of a step ", percent("effect_percent"), ", 95 % interval ", percent("low_percent"),
                      " to ", percent("high_percent"));
}

std::string suite(std::size_t tests, std::size_t failures, std::size_t errors, std::size_t skipped,
                  const std::string& cases)
{
    return base::join(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n <testsuite name=\"crosstalk\" tests=\"", tests,
        "\" failures=\"", failures, "\" errors=\"", errors, "\" skipped=\"", skipped, "\">\n", cases,
        " </testsuite>\n</testsuites>\n");
}

}  // namespace

std::string junit(const Verdict& verdict)
{
    std::string cases;
    std::size_t failures = 0;
    std::size_t skipped = 0;
    for (const auto& [name, factor] : verdict.at("factors").items()) {
        const auto word = factor.at("verdict").get<std::string>();
        const std::string outcome = word == "unsafe" ? "failure" : word == "safe" ? "" : "skipped";
        failures += outcome == "failure" ? 1 : 0;
        skipped += outcome == "skipped" ? 1 : 0;
        cases +=
            test_case(base::join(name, " stays within the budget"), outcome, base::join(word, ": ", effect(factor)));
    }
    std::string reasons;
    for (const Verdict& reason : verdict.at("reasons"))
        reasons += (reasons.empty() ? "" : "; ") + reason.get<std::string>();
    const bool trusted = verdict.at("trustworthy").get<bool>();
    failures += trusted ? 0 : 1;
    cases += test_case("the run can be trusted", trusted ? "" : "failure", reasons);
    return suite(verdict.at("factors").size() + 1, failures, 0, skipped, cases);
}

std::string junit_without_report(const std::string& why)
{
    return suite(1, 0, 1, 0, test_case("there is a report", "error", why));
}

}  // namespace crosstalk
