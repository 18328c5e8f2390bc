// SPDX-License-Identifier: Apache-2.0
// Specification for trace-synth: one program for all ranks, one statement per line.
//
//     ranks 4
//     communicator row 0-1                     # ranks in it; all ranks are in `world`, the archive's MPI_COMM_WORLD
//     clock 1 offset=5ms drift=20              # rank 1's clock is 5 ms behind rank 0's, loses 20 us a second
//     clock 0 offset=-5ms                      # rank 0's clock is 5 ms ahead
//     repeat 100 step {                        # a region, entered by all ranks; its attribute `step` counts
//         forward 10ms..12ms                   # work in a region: every time another length, the same for a seed
//         backward 20ms, 25ms on 1,3           # by rank: the last that names it
//         MPI_Allreduce 1ms bytes=4MiB         # ends so long after the last rank came; a range is drawn for each rank
//         MPI_Reduce 1ms root=2 comm=row
//         MPI_Send 0>1 1ms tag=7               # and the MPI_Recv on rank 1; MPI_Ssend waits for the receiver
//         MPI_Iallreduce 5ms request=gradient  # ends in the background
//         MPI_Isend 1>0 1ms request=news       # and the MPI_Irecv on rank 0
//         MPI_Wait gradient                    # on all ranks that started it, or on some:
//         MPI_Wait news on 0
//         MPI_Wait news on 1
//     }
//
// A rank takes part in the statements that name it, in their order, as soon as it is done with the one before.
#pragma once

#include "trace-tools/otf2/definitions.hpp"
#include "trace-tools/synth/spec_words.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace synth {

struct Statement;

constexpr std::int64_t day_ns = std::int64_t{24} * 3600 * 1'000'000'000;
constexpr std::int64_t longest_ns = 100 * day_ns;  // of a program, and so of each time in it

struct SynthRegion {
    std::string name;
    otf2::RegionRole role = otf2::RegionRole::function;
    otf2::Paradigm paradigm = otf2::Paradigm::user;
};

struct Work {
    std::size_t region = 0;                       // index into SynthSpec::regions, as all regions here
    std::vector<std::optional<TimeRange>> times;  // by rank; none: the rank does not take part
};

struct Block {
    std::size_t region = 0;
    std::int64_t repetitions = 1;
    bool counts = false;  // repeat, whose number is the attribute `step`
    std::vector<Statement> body;
};

// Which ranks of a collective wait for which others.
enum class Flow { all_to_all, one_to_all, all_to_one, barrier };

struct CollectiveCall {
    std::size_t region = 0;
    otf2::Operation operation = otf2::Operation::barrier;
    Flow flow = Flow::barrier;
    std::size_t communicator = 0;        // index into SynthSpec::communicators
    std::uint32_t root = otf2::no_root;  // rank in the communicator
    std::uint64_t bytes = 0;
    TimeRange transfer;
    std::string request;  // of a non-blocking one
};

struct MessageCall {
    std::size_t send_region = 0;
    std::size_t receive_region = 0;
    int from = 0;
    int to = 0;
    bool synchronous = false;
    std::uint32_t tag = 0;
    std::uint64_t bytes = 0;
    TimeRange transfer;
    std::string request;  // of a non-blocking one
};

struct WaitCall {
    std::size_t region = 0;
    std::string request;
    std::vector<int> ranks;  // none: all that started it
};

struct Statement {
    std::variant<Work, Block, CollectiveCall, MessageCall, WaitCall> what;
};

// A rank's clock: own time = (true time - offset) / (1 + drift).
struct ClockError {
    std::int64_t offset_ns = 0;
    double drift = 0.0;  // seconds lost each second
};

struct SynthCommunicator {
    std::string name;
    std::vector<int> members;  // ranks, ascending
};

struct SynthSpec {
    int ranks = 1;
    std::uint64_t seed = 1;
    std::vector<ClockError> clocks;                // by rank
    std::vector<SynthCommunicator> communicators;  // the first is MPI_COMM_WORLD, called `world` in a program
    std::vector<SynthRegion> regions;
    std::vector<Statement> program;
};

// Throws Error, naming file and line.
SynthSpec read_synth_spec(const std::filesystem::path& file);

}  // namespace synth
