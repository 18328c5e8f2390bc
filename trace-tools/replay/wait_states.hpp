// Wait states of MPI: patterns, and sums by step, communicator, MPI call and location. Source of the patterns:
// Scalasca's documentation, with Cube's names.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace replay {

enum class Pattern {
    wait_nxn,        // until the last rank arrived at an all-to-all operation
    nxn_completion,  // after the first rank has left it
    barrier_wait,    // as the two above
    barrier_completion,
    late_broadcast,       // until the root arrived
    early_reduce,         // of the root, until the last other rank arrived
    late_sender,          // until the sender arrived; several in one MPI_Waitall: the last sender
    late_receiver,        // in the call that completes a send, until the receive was posted, if that was before its end
    icollective_exposed,  // inside the wait for a non-blocking collective
    icollective_wait,     // the part of it in which some rank had not started the collective
};

// "mpi_wait_nxn". Cube has no names for non-blocking collectives; ours are "mpi_icollective_exposed" and so on.
const char* cube_name(Pattern pattern);

// True if the pattern is time until another rank arrived, as POP's efficiencies count it.
bool waits_for_another(Pattern pattern);

struct WaitKey {
    std::int64_t step = -1;  // -1: outside of steps
    Pattern pattern = Pattern::wait_nxn;
    std::uint32_t communicator = 0;  // index into Archive::communicators
    std::uint32_t where = 0;         // the MPI call's region or call path: see MpiReplay::Options
    std::uint32_t location = 0;      // index into Archive::locations
    auto operator<=>(const WaitKey&) const = default;
};

struct WaitSum {
    std::int64_t ns = 0;
    std::uint64_t count = 0;  // of calls that waited
};

// Reports each sum when its step has ended on all locations: memory does not grow with the number of steps.
class WaitSums {
 public:
    using Sink = std::function<void(const WaitKey&, const WaitSum&)>;

    WaitSums(std::size_t locations, Sink sink) : sink_{std::move(sink)}, reached_(locations, -1) {}

    void add(const WaitKey& key, std::int64_t ns);
    void begin_step(std::uint32_t location, std::int64_t step);
    void finish();  // after the last event: reports the rest

 private:
    void report_finished_steps();

    Sink sink_;
    std::map<WaitKey, WaitSum> sums_;
    std::vector<std::int64_t> reached_;  // by location: the last step that began
    std::size_t most_ = 4096;            // sums before the next report
};

}  // namespace replay
