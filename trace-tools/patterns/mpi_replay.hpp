// Who waits for whom in MPI, and the critical path through it, in one pass in the order of time. Needs clock-corrected
// time stamps. Source of the patterns: Scalasca's documentation, Cube's names; of the critical path: Boehme et al.,
// "Scalable Critical-Path Based Performance Analysis", IPDPS 2012.
#pragma once

#include "trace-tools/otf2/reader.hpp"
#include "trace-tools/patterns/path_so_far.hpp"

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace otf2 {

enum class Pattern {
    wait_nxn,        // until the last rank came to an all-to-all operation
    nxn_completion,  // after the first rank left it
    barrier_wait,    // as the two above
    barrier_completion,
    late_broadcast,       // until the root came
    early_reduce,         // of the root, until the last other rank came
    late_sender,          // until the sender came; of several in one MPI_Waitall the last one
    late_receiver,        // of a blocked sender, until the receiver came
    icollective_exposed,  // inside the wait for a non-blocking collective
    icollective_wait,     // the part of it in which some rank had not started the collective
};

// "mpi_wait_nxn"; those of non-blocking collectives, which Cube does not have, "mpi_icollective_exposed" and so on.
const char* cube_name(Pattern pattern);

struct WaitKey {
    std::int64_t step = -1;  // -1: outside of steps
    Pattern pattern = Pattern::wait_nxn;
    std::uint32_t communicator = 0;  // indices into the archive
    std::uint32_t region = 0;
    std::uint32_t location = 0;
    auto operator<=>(const WaitKey&) const = default;
};

struct WaitSum {
    std::int64_t ns = 0;
    std::uint64_t count = 0;  // of calls that waited
};

// Of a location that speaks MPI.
struct MpiTimes {
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
    std::int64_t mpi_ns = 0;      // in MPI calls
    std::int64_t waiting_ns = 0;  // of that in wait states of blocking calls
};

struct CriticalPath {
    PathTimes ns;                     // its pieces; they add up to length_ns
    std::map<PathKey, double> delay;  // seconds that others waited because of these, Scalasca's delay cost
    std::int64_t length_ns = 0;       // from the first event of all to the last
};

class MpiReplay : public Visitor {
 public:
    struct Options {
        bool critical_path = false;
        // Steps are visits of this region, counted on each location; nowhere: what has an attribute `step`, outermost.
        std::uint32_t step_region = nowhere;
    };

    // A row when its step is over on all locations.
    using Sink = std::function<void(const WaitKey&, const WaitSum&)>;

    MpiReplay(const Archive& archive, Options options, Sink sink);
    ~MpiReplay() override;

    // After the last event.
    void finish();

    // By location; those that were never in MPI have mpi_ns 0.
    std::vector<MpiTimes> times() const;
    // Time in regions, without those inside, by region and location.
    PathTimes exclusive() const;
    CriticalPath critical_path() const;  // that leads to the last event of all
    std::vector<std::string> problems() const;

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void leave(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void collective_begin(const At& at) override;
    void collective_end(const At& at, const CollectiveRecord& record) override;
    void collective_request(const At& at, std::uint64_t request) override;
    void collective_complete(const At& at, const CollectiveRecord& record) override;
    void send(const At& at, const MessageRecord& message) override;
    void receive(const At& at, const MessageRecord& message) override;

 private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace otf2
