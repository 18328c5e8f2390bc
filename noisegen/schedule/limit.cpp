// SPDX-License-Identifier: Apache-2.0
#include "noisegen/schedule/limit.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <array>
#include <cmath>

namespace noisegen {

namespace {

struct KindOfLimit {
    ResourceLimit::Kind kind;
    const char* name;
    const char* example;
    double most = 0.0;      // upper limit of a value that is a number or a percentage; the lower limit is 1
    bool is_whole = false;  // the number is rounded to a whole one
};

constexpr std::array<KindOfLimit, 6> kinds_of_limits{
    {{ResourceLimit::Kind::io_max, "io.max", "50MiB/s"},
     {ResourceLimit::Kind::cpu_weight, "cpu.weight", "1", 10'000.0, true},
     {ResourceLimit::Kind::cpu_max, "cpu.max", "50%", 1e6},
     {ResourceLimit::Kind::cpu_idle, "cpu.idle", "1", 1.0},
     {ResourceLimit::Kind::cpuset, "cpuset", "2-3"},
     {ResourceLimit::Kind::memory_bandwidth, "resctrl", "10%", 100.0, true}}};

void read_value(ResourceLimit& limit, const std::string& value, const KindOfLimit& known)
{
    if (limit.kind == ResourceLimit::Kind::io_max) {
        limit.rate = base::parse<base::Rate>(value);
        if (limit.rate.per_second < 1.0) base::fail_usage("'", value, "' would allow nothing");
    } else if (limit.kind == ResourceLimit::Kind::cpuset) {
        for (const std::string& range : base::split(value, '+')) limit.cpus.merge(base::parse_cpus(range));
    } else {
        const bool percent = std::string_view{known.example}.ends_with('%');
        const double number = percent ? base::parse<base::Percent>(value).value : base::parse<double>(value);
        if (number < 1.0 || number > known.most)
            base::fail_usage("'", value, "' is not in 1 to ", known.most, percent ? "%" : "");
        limit.number = known.is_whole ? std::round(number) : number;
    }
}

}  // namespace

std::optional<ResourceLimit> parse_limit(const std::string& of, const std::string& text)
{
    if (text == "none") return std::nullopt;
    const std::size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    std::vector<std::string> names;
    for (const KindOfLimit& known : kinds_of_limits) {
        names.emplace_back(known.name);
        if (name != known.name) continue;
        if (colon == std::string::npos)
            base::fail_usage(of, ": ", name, " needs a value after a colon, such as ", name, ":", known.example);
        ResourceLimit limit{.kind = known.kind, .number = 0.0, .text = text};
        try {
            read_value(limit, text.substr(colon + 1), known);
        } catch (const base::UsageError& error) {
            base::fail_usage(of, ": ", name, ": ", error.what());
        }
        return limit;
    }
    base::fail_usage(of, ": no limit '", name, "'", base::did_you_mean(name, names), " (none, or ",
                     base::join_words(names, ", "), ")");
}

}  // namespace noisegen
