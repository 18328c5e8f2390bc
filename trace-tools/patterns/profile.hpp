// What happened how often and for how long: region visits and times, metrics, messages, and what is unsound about it.
#pragma once

#include "trace-tools/otf2/reader.hpp"

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

// What one thread counts is on no cache line that another one writes.
constexpr std::size_t cache_line_bytes = 64;

struct alignas(cache_line_bytes) RegionProfile {
    std::uint64_t visits = 0;
    Spread inclusive_ns;  // of each visit; the sum counts visits inside a visit of the same region once
    Spread exclusive_ns;  // without the regions visited inside
};

struct alignas(cache_line_bytes) MetricProfile {
    std::uint64_t values = 0;
    double least = 0.0;
    double most = 0.0;
    double sum = 0.0;
    std::int64_t first_ns = INT64_MAX;  // of one that accumulates, as the following
    std::int64_t last_ns = INT64_MIN;
    double growth = 0.0;  // last value - first value of each location, summed

    // NaN if it was told at one time only.
    double growth_per_s() const;
};

struct alignas(cache_line_bytes) LocationProfile {
    std::uint64_t events = 0;
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
    std::uint64_t backwards = 0;       // events earlier than the one before
    std::uint64_t open_regions = 0;    // entered, never left: closed at the last event
    std::uint64_t stray_leaves = 0;    // left, not entered
    std::uint64_t skipped_leaves = 0;  // never left before a region around them was
};

struct alignas(cache_line_bytes) CommunicatorProfile {
    std::map<Operation, std::uint64_t> collectives;  // counted on every rank
    std::uint64_t messages = 0;
    std::uint64_t message_bytes = 0;
};

// In any order of locations, each location's events in the order of the archive.
class Profile : public Visitor {
 public:
    explicit Profile(const Archive& archive);

    // After the last event: closes what is open.
    void finish();

    // Takes in the profile of the same archive's other locations; both finished.
    void add(const Profile& other);

    const std::vector<RegionProfile>& regions() const { return regions_; }  // by Archive's indices, as the others
    const std::vector<MetricProfile>& metrics() const { return metrics_; }
    const std::vector<LocationProfile>& locations() const { return locations_; }
    const std::vector<CommunicatorProfile>& communicators() const { return communicators_; }
    std::vector<std::string> problems() const;

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void leave(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void metric(const At& at, std::uint32_t metric, const MetricValue& value) override;
    void collective_begin(const At& at) override { event(at); }
    void collective_end(const At& at, const CollectiveRecord& record) override;
    void collective_request(const At& at, std::uint64_t) override { event(at); }
    void collective_complete(const At& at, const CollectiveRecord& record) override { collective_end(at, record); }
    void send(const At& at, const MessageRecord& message) override;
    void send_complete(const At& at, std::uint64_t) override { event(at); }
    void receive_request(const At& at, std::uint64_t) override { event(at); }
    void receive(const At& at, const MessageRecord&) override { event(at); }
    void buffer_flush(const At& at, std::int64_t) override { event(at); }
    void other(const At& at) override { event(at); }

 private:
    struct Visit {
        std::uint32_t region;
        std::int64_t begin_ns;
        std::int64_t inside_ns;  // spent in regions visited inside
        bool inside_itself;
    };

    struct alignas(cache_line_bytes) Stack {
        std::vector<Visit> visits;
        std::unordered_map<std::uint32_t, std::uint32_t> deep;  // how often a region is open beyond the first levels
        bool holds(std::uint32_t region) const;
    };

    struct alignas(cache_line_bytes) Counters {
        std::unordered_map<std::uint32_t, double> last;  // by metric, of those that accumulate
    };

    LocationProfile& event(const At& at);
    void close(Stack& stack, std::int64_t end_ns);

    const Archive& archive_;
    std::vector<RegionProfile> regions_;
    std::vector<MetricProfile> metrics_;
    std::vector<LocationProfile> locations_;
    std::vector<CommunicatorProfile> communicators_;
    std::vector<Stack> stacks_;       // by location
    std::vector<Counters> counters_;  // likewise
};

}  // namespace otf2
