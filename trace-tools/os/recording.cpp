// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/os/recording.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/trace_names.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <ranges>

namespace os {

using base::os::Row;

namespace {

constexpr std::int64_t patience_ns = 1'000'000'000;  // a longer interruption is written only when it has ended

bool has_length(const Row& row)
{
    return row.thread && row.count == 1 && row.source == "bpf" && row.end_ns > row.begin_ns;
}

std::string region_name(const Row& row)
{
    return row.by.empty() ? row.cause : base::join(row.cause, ": ", row.by);
}

}  // namespace

Recording::Recording(const std::filesystem::path& directory, const std::string& host)
    : table_{directory / base::os::table, base::names_of(base::os::columns())},
      recorder_{directory / base::file::trace, std::make_unique<otf2::SoloTeam>(), base::join("threads on ", host)}
{
    recorder_.property(base::property::watches, "threads");
}

otf2::LocationRecorder& Recording::location(std::int64_t thread)
{
    const auto found = locations_.find(thread);
    if (found != locations_.end()) return *found->second;
    otf2::LocationRecorder& fresh = recorder_.location(base::join(names_[thread], " ", thread));
    locations_[thread] = &fresh;
    return fresh;
}

void Recording::add(const std::vector<Row>& rows, const Job& job)
{
    for (const auto& [thread, about] : job.threads) names_[thread] = about.name;
    for (const Row& row : rows) {
        table_.write(base::cells_of(base::os::columns(), row));
        if (!has_length(row)) continue;
        newest_ns_ = std::max(newest_ns_, row.end_ns);
        waiting_.emplace(row.begin_ns, row);
    }
    write_until(newest_ns_ - patience_ns);
}

void Recording::write_until(std::int64_t end_ns)
{
    const auto last = waiting_.lower_bound(end_ns);
    for (const auto& [begin, row] : std::ranges::subrange{waiting_.begin(), last}) {
        otf2::LocationRecorder& on = location(*row.thread);
        const std::int64_t begin_ns = std::max(begin, on.last_ns());
        if (begin_ns >= row.end_ns) continue;
        const otf2::RegionRef region = recorder_.in_group(row.cause, recorder_.region(region_name(row)));
        on.enter(region, begin_ns);
        on.leave(region, row.end_ns);
    }
    waiting_.erase(waiting_.begin(), last);
}

void Recording::finish()
{
    write_until(INT64_MAX);
    recorder_.finish();
}

}  // namespace os
