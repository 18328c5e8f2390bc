// SPDX-License-Identifier: Apache-2.0
// Reads by input readers while steps run. A read may be for another step, and overlaps with the steps' phases.
#pragma once

#include "analysis/input/slots.hpp"
#include "analysis/input/training.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace analysis {

// Number of buckets, or of readers, that get columns of their own: the first ones.
inline constexpr std::uint64_t most_parts = 8;

// Collects the reads from an archive.
class ReadsReader : public otf2::Visitor {
 public:
    explicit ReadsReader(const otf2::Archive& archive);  // the archive must outlive this reader

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override;
    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override;

    // Adds the measure `read reader N` to the training for each of the first eight readers that all ranks have: ms of
    // the step in which that reader read, mean over ranks. processes: [rank].
    void add_to(Training& training, const std::vector<std::uint32_t>& processes) const;

 private:
    using Reads = base::LongColumn<TimeSpan>;

    const otf2::Archive& archive_;
    std::vector<bool> is_read_;                                     // [region]
    std::vector<std::optional<std::uint64_t>> reader_of_;           // [location]: number of the reader, if it is one
    std::vector<std::int64_t> begin_ns_;                            // [location]
    std::map<std::pair<std::uint32_t, std::uint64_t>, Reads> all_;  // process, reader
};

}  // namespace analysis
