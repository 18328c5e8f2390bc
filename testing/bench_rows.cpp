#include "testing/bench_rows.hpp"

#include "base/cli/options.hpp"

#include <array>
#include <cstdio>
#include <ctime>

namespace testing {

namespace {

std::string three_digits(double number)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g", number);
    return text.data();
}

std::string today()
{
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    std::array<char, 16> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc);
    return text.data();
}

}  // namespace

void BenchRows::add_to(base::Options& options)
{
    options.add("csv", file_, "the file of the rows for results/bench; without it they are only printed", "FILE");
    options.add("machine", machine_, "the machine's name in docs/performance.md", "NAME");
    options.add("load", load_, "what else runs on it", "TEXT");
    options.add("run", run_, "number of the run of this benchmark on this day", "N");
}

void BenchRows::open(const std::string& benchmark)
{
    benchmark_ = benchmark;
    date_ = today();
    if (file_.empty()) return;
    rows_.emplace(file_, std::vector<std::string>{"date", "machine", "load", "benchmark", "run", "case", "beside",
                                                  "quantity", "unit", "value", "low", "high"});
}

void BenchRows::at_most(const std::string& what, const std::string& beside, const Paired& found,
                        const std::string& unit, double aim)
{
    std::printf("%s: %.4g %s; %s: %.4g %s; ratio %s, aim %g\n", what.c_str(), found.first.value, unit.c_str(),
                beside.c_str(), found.second.value, unit.c_str(), found.ratio.text().c_str(), aim);
    std::fflush(stdout);
    if (!rows_) return;
    row(what, beside, "ours", unit, found.first);
    row(what, beside, "beside", unit, three_digits(found.second.value));
    row(what, beside, "ratio", "", found.ratio);
    row(what, beside, "at most", "", three_digits(aim));
    row(what, beside, "holds", "", found.ratio.value <= aim ? "yes" : "no");
    row(what, beside, "pairs", "", std::to_string(found.ratio.samples));
}

void BenchRows::at_most(const std::string& what, double found, const std::string& unit, double aim)
{
    std::printf("%s: %.4g %s, aim %g\n", what.c_str(), found, unit.c_str(), aim);
    std::fflush(stdout);
    if (!rows_) return;
    row(what, "", "ours", unit, three_digits(found));
    row(what, "", "at most", unit, three_digits(aim));
    row(what, "", "holds", "", found <= aim ? "yes" : "no");
}

void BenchRows::row(const std::string& what, const std::string& beside, const std::string& quantity,
                    const std::string& unit, const Median& found)
{
    row(what, beside, quantity, unit, three_digits(found.value), three_digits(found.low), three_digits(found.high));
}

void BenchRows::row(const std::string& what, const std::string& beside, const std::string& quantity,
                    const std::string& unit, const std::string& value, const std::string& low, const std::string& high)
{
    rows_->row(date_, machine_, load_, benchmark_, run_, what, beside, quantity, unit, value, low, high);
}

}  // namespace testing
