// SPDX-License-Identifier: Apache-2.0
// MPI wait states: the patterns, and sums by step, communicator, MPI call and location. Source of the patterns:
// Scalasca's documentation; names are Cube's.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace replay {

enum class Pattern {
#define WAIT_STATE(name, cube_name, waits_for_another, title, description, part_of) name,
#include "trace-tools/replay/wait_states.inc"
#undef WAIT_STATE
};

struct WaitState {
    Pattern pattern;
    const char* cube_name;    // "mpi_wait_nxn"
    bool waits_for_another;   // time until another rank arrived, which POP's efficiencies count as waiting
    const char* title;        // "Wait at N x N"
    const char* description;  // what is waited for
    const char* part_of;      // Cube's parent metric
};

// Indexed by Pattern.
extern const std::vector<WaitState> wait_states;

inline const WaitState& wait_state(Pattern pattern)
{
    return wait_states[static_cast<std::size_t>(pattern)];
}

struct WaitKey {
    std::int64_t step = -1;  // -1: outside of steps
    Pattern pattern = Pattern::wait_nxn;
    std::uint32_t communicator = 0;  // index into Archive::communicators
    std::uint32_t where = 0;         // region or call path of the MPI call: see MpiReplay::Options
    std::uint32_t location = 0;      // index into Archive::locations
    auto operator<=>(const WaitKey&) const = default;
};

struct WaitSum {
    std::int64_t ns = 0;
    std::uint64_t count = 0;  // number of calls that waited
};

// Reports each sum once its step has ended on all locations, so memory does not grow with the number of steps.
class WaitSums {
 public:
    using Sink = std::function<void(const WaitKey&, const WaitSum&)>;

    WaitSums(std::size_t locations, Sink sink) : sink_{std::move(sink)}, slots_(least_slots), reached_(locations, -1) {}

    void add(const WaitKey& key, std::int64_t ns);
    void begin_step(std::uint32_t location, std::int64_t step);
    void finish();  // call after the last event: reports the remaining sums

 private:
    using Sum = std::pair<WaitKey, WaitSum>;
    static constexpr std::size_t least_slots = 1024;

    WaitSum& sum_of(const WaitKey& key);
    std::size_t slot_of(const WaitKey& key) const;  // the key's slot, or the free slot for it
    void index_anew(std::size_t slots);
    void report(std::vector<Sum>::iterator begin, std::vector<Sum>::iterator end);
    void report_finished_steps();

    Sink sink_;
    std::vector<Sum> sums_;              // one for each key
    std::vector<std::uint32_t> slots_;   // hash table of indices into sums_, from 1; 0: free. At most half full
    std::vector<std::int64_t> reached_;  // by location: the last step that began
    std::size_t most_ = 4096;            // number of sums that triggers a report
};

}  // namespace replay
