// SPDX-License-Identifier: Apache-2.0
// Profile of an archive: region visits and times, metrics, messages, and whether the archive is sound.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/otf2/read/soundness.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace otf2 {

struct Spread {
    std::int64_t sum = 0;
    std::int64_t least = INT64_MAX;
    std::int64_t most = INT64_MIN;
    void add(std::int64_t value);
    void add(const Spread& other);
};

struct alignas(cache_line_bytes) RegionProfile {
    std::uint64_t visits = 0;
    Spread inclusive_ns;  // over the visits; the sum does not count visits inside a visit of the same region
    Spread exclusive_ns;  // without the regions visited inside
};

struct alignas(cache_line_bytes) MetricProfile {
    std::uint64_t values = 0;
    double least = 0.0;
    double most = 0.0;
    double sum = 0.0;
    std::int64_t first_ns = INT64_MAX;  // this and the next two: only for accumulated metrics
    std::int64_t last_ns = INT64_MIN;
    double growth = 0.0;  // sum over locations of last value - first value

    // NaN if the metric was reported at a single time only.
    double growth_per_s() const;
};

// For each location: visits of and time in regions that are not inside another one. For a GPU's stream: its activities.
struct alignas(cache_line_bytes) OutermostProfile {
    std::uint64_t visits = 0;
    std::int64_t ns = 0;
};

struct alignas(cache_line_bytes) CommunicatorProfile {
    std::map<Operation, std::uint64_t> collectives;  // each rank counts once
    std::uint64_t messages = 0;
    std::uint64_t message_bytes = 0;
};

// Locations may come in any order; each location's events must be in the order of the archive.
class Profile : public EachEvent<Profile> {
 public:
    explicit Profile(const Archive& archive);

    // Call after the last event: closes open regions.
    void finish();

    // Adds the finished profile of other locations of the same archive to this one, also finished.
    void add(const Profile& other);

    const std::vector<RegionProfile>& regions() const { return regions_; }  // indexed as in Archive, like the next ones
    const std::vector<MetricProfile>& metrics() const { return metrics_; }
    std::vector<LocationProfile> locations() const { return soundness_.locations(); }
    const std::vector<OutermostProfile>& outermost() const { return outermost_; }
    const std::vector<CommunicatorProfile>& communicators() const { return communicators_; }
    const Soundness& soundness() const { return soundness_; }
    std::vector<std::string> problems() const { return soundness_.problems(); }

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void leave(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void metric(const At& at, std::uint32_t metric, const MetricValue& value) override;
    void collective_end(const At& at, const CollectiveRecord& record) override;
    void collective_complete(const At& at, const CollectiveRecord& record) override { collective_end(at, record); }
    void send(const At& at, const MessageRecord& message) override;
    void event(const At& at) { soundness_.event(at); }

 private:
    struct Visit {
        std::uint32_t region;
        std::int64_t begin_ns;
        std::int64_t inside_ns;  // time spent in regions visited inside
        bool inside_itself;
    };

    struct alignas(cache_line_bytes) Stack {
        std::vector<Visit> visits;
    };

    struct alignas(cache_line_bytes) Counters {
        std::unordered_map<std::uint32_t, double> last;  // last value by metric, for accumulated metrics
    };

    void close(std::uint32_t location, std::int64_t end_ns);

    const Archive& archive_;
    std::vector<RegionProfile> regions_;
    std::vector<MetricProfile> metrics_;
    std::vector<CommunicatorProfile> communicators_;
    Soundness soundness_;
    std::vector<Stack> stacks_;                // by location
    std::vector<Counters> counters_;           // by location
    std::vector<OutermostProfile> outermost_;  // by location
};

}  // namespace otf2
