// SPDX-License-Identifier: Apache-2.0
// The part of a run that a user asks about: the visits of a region, a span of time, or the visits within that span.
#pragma once

#include "base/cli/options.hpp"
#include "base/system/clock.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace otf2 {

// The options' values; empty: all of the run.
struct PartWords {
    std::string region;
    std::string from;
    std::string to;
    bool any() const { return !region.empty() || !from.empty() || !to.empty(); }
    std::string text() const;  // "region step from 1s to 2s"
};

// --region, --from and --to.
void add_part_options(base::Options& options, PartWords& words);

class Part {
 public:
    Part() = default;  // all of the run

    // Disjoint spans in the order of time, by process (or, for a location without one, after these by location).
    Part(const Archive& archive, std::vector<std::vector<base::TimeSpan>> spans)
        : archive_{&archive}, spans_{std::move(spans)}
    {
    }

    bool is_all() const { return archive_ == nullptr; }

    // How long from begin to end the location is in the part; in the archive's common time.
    std::int64_t within(std::uint32_t location, std::int64_t begin_ns, std::int64_t end_ns) const
    {
        return is_all() ? end_ns - begin_ns : inside_ns(location, begin_ns, end_ns);
    }

 private:
    std::int64_t inside_ns(std::uint32_t location, std::int64_t begin_ns, std::int64_t end_ns) const;

    const Archive* archive_ = nullptr;
    std::vector<std::vector<base::TimeSpan>> spans_;
};

// Reads all events, once. A region's visits are those of all threads of a process together; visits inside others of the
// same region are part of these. Throws UsageError for a region that is not there and for a span that is empty or
// before the first event, Error where no process has any time in the part.
Part part_of(Reader& reader, const PartWords& words);

}  // namespace otf2
