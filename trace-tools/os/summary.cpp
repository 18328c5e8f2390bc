// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/os/summary.hpp"

#include "base/figures.hpp"
#include "base/system/cpus.hpp"
#include "base/words.hpp"

#include <algorithm>

namespace os {

using base::os::Row;

void Summary::add(const std::vector<Row>& rows)
{
    for (const Row& row : rows) {
        Sum& sum = sums_[{row.source, row.cause, row.by}];
        sum.count += row.count;
        sum.ns += row.ns;
        if (row.count == 1) sum.longest_ns = std::max(sum.longest_ns, row.ns);
        if (row.cpu) sum.cpus.insert(*row.cpu);
    }
}

std::int64_t Summary::ns_of(const std::string& source, const std::string& cause) const
{
    std::int64_t ns = 0;
    for (const auto& [key, sum] : sums_)
        if (key.source == source && key.cause == cause) ns += sum.ns;
    return ns;
}

std::string Summary::text(double seconds, std::size_t most, const std::string& rest) const
{
    std::vector<std::pair<Key, Sum>> rows{sums_.begin(), sums_.end()};
    std::erase_if(rows, [](const auto& row) { return row.second.ns == 0; });
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
        return std::pair{a.first.source, b.second.ns} < std::pair{b.first.source, a.second.ns};
    });
    std::vector<std::vector<std::string>> lines{{"cause", "by", "source", "count", "ms", "ms/s", "longest ms", "CPUs"}};
    std::map<std::string, std::size_t> shown;
    for (const auto& [key, sum] : rows) {
        if (shown[key.source]++ >= most) continue;
        const double ms = static_cast<double>(sum.ns) / 1e6;
        base::CpuSet cpus;
        for (const std::int64_t cpu : sum.cpus) cpus.insert(static_cast<int>(cpu));
        lines.push_back({key.cause, key.by, key.source, base::join(sum.count), base::fixed(ms, 3),
                         base::fixed(ms / seconds, 3),
                         sum.longest_ns == 0 ? "" : base::fixed(static_cast<double>(sum.longest_ns) / 1e6, 3),
                         base::format_cpus(cpus)});
    }
    std::string text = lines.size() > 1 ? base::table_text(lines, 3) : "nothing kept its threads from running\n";
    for (const auto& [source, count] : shown)
        if (count > most) text += base::join("and ", count - most, " more of ", source, rest, "\n");
    return text;
}

}  // namespace os
