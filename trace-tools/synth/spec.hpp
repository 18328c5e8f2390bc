// SPDX-License-Identifier: Apache-2.0
// Specification for trace-synth: one program for all ranks, one statement per line.
//
//     ranks 4
//     communicator row 0-1                     # its ranks; `world`, the archive's MPI_COMM_WORLD, has all
//     clock 1 offset=5ms drift=20              # rank 1's clock is 5 ms behind rank 0's, and loses 20 us a second
//     clock 0 offset=-5ms                      # rank 0's clock is 5 ms ahead
//     repeat 100 step {                        # a region of all ranks; its attribute `step` counts iterations
//         forward 10ms..12ms                   # work; each visit draws its length from the range, by the seed
//         backward 20ms, 25ms on 1,3           # lengths by rank; the last entry that names a rank holds
//         MPI_Allreduce 1ms bytes=4MiB         # ends 1 ms after the last rank arrived; a range: drawn per rank
//         MPI_Reduce 1ms root=2 comm=row
//         MPI_Send 0>1 1ms tag=7               # with the MPI_Recv on rank 1; MPI_Ssend waits for the receiver
//         MPI_Iallreduce 5ms request=gradient  # completes in the background
//         MPI_Isend 1>0 1ms request=block      # with the MPI_Irecv on rank 0
//         MPI_Wait gradient                    # on all ranks that started the request
//         MPI_Wait block on 0                  # on rank 0 only
//         MPI_Wait block on 1
//     }
//
// A rank executes, in order, the statements that name it; each begins when the rank has finished the previous one.
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
constexpr std::int64_t longest_ns = 100 * day_ns;  // longest program, and so the longest time in it

struct SynthRegion {
    std::string name;
    otf2::RegionRole role = otf2::RegionRole::function;
    otf2::Paradigm paradigm = otf2::Paradigm::user;
};

struct Work {
    std::size_t region = 0;                         // index into SynthSpec::regions, as all regions here
    std::vector<std::optional<TimeRange>> times{};  // by rank; none: the rank does not take part
};

struct Block {
    std::size_t region = 0;
    std::int64_t repetitions = 1;
    bool counts = false;  // a repeat statement: the attribute `step` counts its iterations
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
    std::string request;  // name of a non-blocking call's request; empty: blocking
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
    std::string request;  // name of a non-blocking call's request; empty: blocking
};

struct WaitCall {
    std::size_t region = 0;
    std::string request;
    std::vector<int> ranks;  // ranks that wait; empty: all that started the request
};

struct Statement {
    std::variant<Work, Block, CollectiveCall, MessageCall, WaitCall> what;
};

// A rank's clock: own time = (true time - offset) / (1 + drift).
struct ClockError {
    std::int64_t offset_ns = 0;
    double drift = 0.0;  // seconds that the clock loses per second
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
