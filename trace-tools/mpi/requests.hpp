// Non-blocking operations between their start and the wait or test that completes them.
#pragma once

#include "trace-tools/otf2/recorder.hpp"

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <variant>

namespace otf2 {

struct PendingSend {};
struct PendingReceive {
    CommunicatorRef communicator;
};
struct PendingCollective {
    CollectiveEnd what;
};

struct Pending {
    std::uint64_t id = 0;  // of this process, never used twice
    std::variant<PendingSend, PendingReceive, PendingCollective> operation;
};

// Are there any? Spares a look into the table.
bool any_pending();

std::uint64_t new_request_id();
void remember(MPI_Request request, const Pending& pending);

// Empty if the request was not started by a recorded call. MPI may use the handle again.
std::optional<Pending> take(MPI_Request request);

// Writes the record of a completed operation. The status is that of the operation.
void record_completion(LocationRecorder& location, std::int64_t time_ns, const Pending& pending,
                       const MPI_Status& status);

}  // namespace otf2
