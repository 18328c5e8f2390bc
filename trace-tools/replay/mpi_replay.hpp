// Who waits for whom in MPI, and the critical path through it, in one pass in the order of time. Needs clock-corrected
// time stamps.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/profile/call_tree.hpp"
#include "trace-tools/replay/causes.hpp"
#include "trace-tools/replay/wait_states.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace otf2 {

// Of a location.
struct MpiTimes {
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
    std::int64_t run_ns = 0;      // from the first to the last, in the part; so are all below
    std::int64_t mpi_ns = 0;      // in MPI calls
    std::int64_t waiting_ns = 0;  // of that in wait states
    bool calls_mpi = false;       // in the part or not
    bool counts() const { return calls_mpi && run_ns > 0; }
};

struct CriticalPath {
    PathTimes ns;                // its pieces; they add up to length_ns
    DelayCosts delay;            // of what was late, on the path or not
    DelayCosts indirect_delay;   // the part of it that others whom it made late cost in turn
    DelayCosts unknown_delay;    // what has no known cause, by who waited; with `delay` all waiting
    std::int64_t length_ns = 0;  // without a part: from the first ENTER of all to the last LEAVE
};

// Of a location's visit of a step: time in a region directly inside the step's, all visits together, and of the step's
// own region, which is the time in none of them. They add up to the step.
struct PhaseTime {
    std::int64_t step = 0;
    std::uint32_t where = 0;
    std::uint32_t location = 0;
    std::int64_t ns = 0;
};

class MpiReplay : public Visitor {
 public:
    struct Options {
        bool critical_path = false;
        // Steps are visits of this region, counted on each location, or numbered by its attribute `step`; nowhere: what
        // has such an attribute, outermost.
        std::uint32_t step_region = nowhere;
        // Where there is one, all that is said of a `where` is by call path, an index into its nodes, which the replay
        // adds as it comes to them. Without, by region: an index into Archive::regions.
        CallTree* call_paths = nullptr;
        // As steps end on each location. Of several regions that are steps the first that is entered has phases.
        std::function<void(const PhaseTime&)> phases = {};
        // All times that are summed up are those in it; steps that are not wholly in it have no phases.
        Part part = {};
    };

    // A sum of waits when its step is over on all locations.
    using Sink = WaitSums::Sink;

    // Of the archive that the reader has open. Where there are non-blocking collectives or receives, their starts are
    // read here.
    MpiReplay(Reader& reader, Options options, Sink sink);
    ~MpiReplay() override;

    // After the last event.
    void finish();

    // By location.
    std::vector<MpiTimes> times() const;
    // Time without that of regions inside. MPI calls that an MPI call makes are part of it.
    PathTimes exclusive() const;
    // That leads to the last event of all. Where nothing joins locations, it is only what the last one did.
    CriticalPath critical_path() const;
    bool joined() const;        // ranks of MPI, or threads by tasks; or there is one location only
    std::size_t ranks() const;  // processes that call MPI, and have time in the part
    std::vector<std::string> problems() const;

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void leave(const At& at, std::uint32_t region, const EventAttributes& attributes) override;
    void collective_begin(const At& at) override;
    void collective_end(const At& at, const CollectiveRecord& record) override;
    void collective_request(const At& at, std::uint64_t request) override;
    void collective_complete(const At& at, const CollectiveRecord& record) override;
    void send(const At& at, const MessageRecord& message) override;
    void send_complete(const At& at, std::uint64_t request) override;
    void receive_request(const At& at, std::uint64_t request) override;
    void receive(const At& at, const MessageRecord& message) override;

 private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace otf2
