// Parts of steps that are no phases: each bucket's exchange, and what each input reader reads meanwhile.
#pragma once

#include "analysis/input/slots.hpp"
#include "analysis/input/training.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace analysis {

// Collects them from an archive.
class PartsReader : public otf2::Visitor {
 public:
    explicit PartsReader(const otf2::Archive& archive);  // which must outlive it

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override;
    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override;

    // Adds to the training's measures, in ms and as means over ranks: `exchange bucket N`, and `read reader N`, the
    // time of the step in which that reader read, for whatever step. Of the first eight each that every rank has,
    // buckets in every step. processes: of the ranks, in order.
    void add_to(Training& training, const std::vector<std::uint32_t>& processes) const;

 private:
    struct Open {
        std::int64_t begin_ns = 0;
        std::optional<std::uint64_t> step;
        std::optional<std::uint64_t> bucket;
    };
    using Measure = std::optional<Eigen::VectorXd>;  // by step; none: not everywhere
    Measure exchange(const Training& training, const std::vector<std::uint32_t>& processes, std::uint64_t bucket) const;
    Measure read(const Training& training, const std::vector<std::uint32_t>& processes, std::uint64_t reader) const;

    const otf2::Archive& archive_;
    std::optional<std::uint32_t> step_attribute_;
    std::optional<std::uint32_t> bucket_attribute_;
    std::vector<bool> is_exchange_;                        // by region
    std::vector<bool> is_read_;                            // likewise
    std::vector<std::optional<std::uint64_t>> reader_of_;  // by location: its number, of a reader
    std::vector<Open> open_;                               // by location
    std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>, std::int64_t>
        exchange_ns_;                                                               // process, bucket, step
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Stretch>> read_;  // process, reader
};

}  // namespace analysis
