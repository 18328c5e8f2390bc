// Wait states of MPI: their patterns, and their sums by step, communicator, place and location. Source of the patterns:
// Scalasca's documentation, Cube's names.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
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
    late_receiver,        // of a sender in the call that ends the send, until the receive was posted, if it was by then
    icollective_exposed,  // inside the wait for a non-blocking collective
    icollective_wait,     // the part of it in which some rank had not started the collective
};

// "mpi_wait_nxn"; those of non-blocking collectives, which Cube does not have, "mpi_icollective_exposed" and so on.
const char* cube_name(Pattern pattern);

// Time in an MPI call until another rank came, of which POP's efficiencies speak; the other patterns are what is left.
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

// Gives each sum away when its step is over on all locations, so that memory does not grow with the number of steps.
class WaitSums {
 public:
    using Sink = std::function<void(const WaitKey&, const WaitSum&)>;

    WaitSums(std::size_t locations, Sink sink) : sink_{std::move(sink)}, reached_(locations, -1) {}

    void add(const WaitKey& key, std::int64_t ns);
    void begin_step(std::uint32_t location, std::int64_t step);
    void finish();  // after the last event: gives away the rest

 private:
    void give_away_finished_steps();

    Sink sink_;
    std::map<WaitKey, WaitSum> sums_;
    std::vector<std::int64_t> reached_;  // by location: the last step that began
    std::size_t many_ = 4096;            // so many are worth a look at who has reached which step
};

}  // namespace otf2
