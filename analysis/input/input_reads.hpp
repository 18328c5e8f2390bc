// SPDX-License-Identifier: Apache-2.0
// Reads of each input reader while steps run, for whatever step: they overlap with the steps' phases.
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

// Parts of a kind, such as buckets and readers, with columns of their own: the first ones.
inline constexpr std::uint64_t most_parts = 8;

// Collects it from an archive.
class ReadsReader : public otf2::Visitor {
 public:
    explicit ReadsReader(const otf2::Archive& archive);  // which must outlive it

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override;
    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override;

    // Adds `read reader N` to the training's measures: ms of the step in which that reader read, as mean over ranks. Of
    // the first eight that every rank has. processes: of the ranks, in order.
    void add_to(Training& training, const std::vector<std::uint32_t>& processes) const;

 private:
    using Reads = base::LongColumn<TimeSpan>;

    const otf2::Archive& archive_;
    std::vector<bool> is_read_;                                     // by region
    std::vector<std::optional<std::uint64_t>> reader_of_;           // by location: its number, of a reader
    std::vector<std::int64_t> begin_ns_;                            // by location
    std::map<std::pair<std::uint32_t, std::uint64_t>, Reads> all_;  // process, reader
};

}  // namespace analysis
