// SPDX-License-Identifier: Apache-2.0
// Tracks MPI's handles: non-blocking operations between their start and the wait or test that completes them,
// persistent requests, and messages that were probed but not received yet.
#pragma once

#include "trace-tools/mpi/known_communicator.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <mpi.h>

#include <cstdint>
#include <memory>
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
struct PendingDuplicate {
    MPI_Comm* made = nullptr;  // holds the communicator when the request is complete
    std::shared_ptr<const KnownCommunicator> known;
};

struct Pending {
    std::uint64_t id = 0;  // unique in this process; 0 for a PendingDuplicate
    std::variant<PendingSend, PendingReceive, PendingCollective, PendingDuplicate> operation;
};

// True if requests are pending; avoids a table look-up.
bool any_pending();

std::uint64_t new_request_id();
void remember(MPI_Request request, const Pending& pending);

// Removes and returns the oldest operation of this handle, which MPI may then reuse; empty if none was recorded.
std::optional<Pending> take(MPI_Request request);

// The message of a persistent request, or the communicator that it receives on.
using Persistent = std::variant<Message, CommunicatorRef>;
void remember_persistent(MPI_Request request, const Persistent& prepared);
std::optional<Persistent> persistent(MPI_Request request);
void forget_persistent(MPI_Request request);

// The communicator of a message between MPI_Mprobe and MPI_Mrecv.
void remember_probed(MPI_Message message, CommunicatorRef communicator);
std::optional<CommunicatorRef> take_probed(MPI_Message message);

Message incoming(const MPI_Status& status, CommunicatorRef communicator);

// Writes the record of an operation that completed with this status.
void record_completion(LocationRecorder& location, std::int64_t time_ns, const Pending& pending,
                       const MPI_Status& status);

}  // namespace otf2
