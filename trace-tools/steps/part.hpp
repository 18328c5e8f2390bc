// SPDX-License-Identifier: Apache-2.0
// The part of a run that the user selected: the visits of a region, a span of time, or the visits within that span.
#pragma once

#include "base/cli/options.hpp"
#include "base/system/clock.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace otf2 {

// Values of --region, --from and --to. All empty: the whole run.
struct PartWords {
    std::string region;
    std::string from;
    std::string to;
    bool any() const { return !region.empty() || !from.empty() || !to.empty(); }
    std::string text() const;  // "region step from 1s to 2s"
};

// Adds the options --region, --from and --to.
void add_part_options(base::Options& options, PartWords& words);

class Part {
 public:
    Part() = default;  // the whole run

    // `spans`: one list per process, then one per location (used if it has no process); disjoint, in time order.
    Part(const Archive& archive, std::vector<std::vector<base::TimeSpan>> spans)
        : archive_{&archive}, spans_{std::move(spans)}
    {
    }

    bool is_all() const { return archive_ == nullptr; }

    // Returns how much of the time from begin_ns to end_ns (archive's common clock) lies in the location's part, in ns.
    std::int64_t within(std::uint32_t location, std::int64_t begin_ns, std::int64_t end_ns) const
    {
        return is_all() ? end_ns - begin_ns : inside_ns(location, begin_ns, end_ns);
    }

 private:
    std::int64_t inside_ns(std::uint32_t location, std::int64_t begin_ns, std::int64_t end_ns) const;

    const Archive* archive_ = nullptr;
    std::vector<std::vector<base::TimeSpan>> spans_;
};

// Reads all events once. The visits of all threads of a process are merged; nested visits of the region belong to the
// outer ones. Throws UsageError if the region does not exist, or if the span is empty or before the first event; throws
// Error if no process has any time in the part.
Part part_of(Reader& reader, const PartWords& words);

}  // namespace otf2
