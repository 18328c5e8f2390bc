// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/mpi/requests.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>

namespace otf2 {

namespace {

std::mutex mutex;  // guards the tables
// Oldest first: Open MPI returns the same handle for all sends that complete immediately.
std::unordered_map<MPI_Request, std::deque<Pending>> table;
std::unordered_map<MPI_Request, Persistent> persistent_requests;
std::unordered_map<MPI_Message, CommunicatorRef> probed_messages;
std::atomic<std::size_t> pending_count{0};

}  // namespace

bool any_pending()
{
    return pending_count.load(std::memory_order_relaxed) > 0;
}

std::uint64_t new_request_id()
{
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

void remember(MPI_Request request, const Pending& pending)
{
    if (request == MPI_REQUEST_NULL) return;
    const std::lock_guard lock{mutex};
    table[request].push_back(pending);
    ++pending_count;
}

std::optional<Pending> take(MPI_Request request)
{
    if (!any_pending()) return {};
    const std::lock_guard lock{mutex};
    const auto found = table.find(request);
    if (found == table.end()) return {};
    const Pending pending = found->second.front();
    found->second.pop_front();
    if (found->second.empty()) table.erase(found);
    --pending_count;
    return pending;
}

void remember_persistent(MPI_Request request, const Persistent& prepared)
{
    const std::lock_guard lock{mutex};
    persistent_requests.insert_or_assign(request, prepared);
}

std::optional<Persistent> persistent(MPI_Request request)
{
    const std::lock_guard lock{mutex};
    const auto found = persistent_requests.find(request);
    if (found == persistent_requests.end()) return {};
    return found->second;
}

void forget_persistent(MPI_Request request)
{
    const std::lock_guard lock{mutex};
    persistent_requests.erase(request);
}

void remember_probed(MPI_Message message, CommunicatorRef communicator)
{
    if (message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC) return;
    const std::lock_guard lock{mutex};
    probed_messages.insert_or_assign(message, communicator);
}

std::optional<CommunicatorRef> take_probed(MPI_Message message)
{
    const std::lock_guard lock{mutex};
    const auto found = probed_messages.find(message);
    if (found == probed_messages.end()) return {};
    const CommunicatorRef communicator = found->second;
    probed_messages.erase(found);
    return communicator;
}

Message incoming(const MPI_Status& status, CommunicatorRef communicator)
{
    int bytes = 0;
    PMPI_Get_count(&status, MPI_BYTE, &bytes);
    return {.peer = static_cast<std::uint32_t>(status.MPI_SOURCE),
            .communicator = communicator,
            .tag = static_cast<std::uint32_t>(status.MPI_TAG),
            .bytes = bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0};
}

void record_completion(LocationRecorder& location, std::int64_t time_ns, const Pending& pending,
                       const MPI_Status& status)
{
    if (const auto* collective = std::get_if<PendingCollective>(&pending.operation)) {
        location.collective_complete(time_ns, collective->what, pending.id);
        return;
    }
    if (std::holds_alternative<PendingDuplicate>(pending.operation)) return;
    int cancelled = 0;
    PMPI_Test_cancelled(&status, &cancelled);
    if (cancelled != 0)
        location.request_cancelled(time_ns, pending.id);
    else if (std::holds_alternative<PendingSend>(pending.operation))
        location.send_complete(time_ns, pending.id);
    else if (status.MPI_SOURCE >= 0)  // MPI_PROC_NULL is negative
        location.receive_complete(time_ns, incoming(status, std::get<PendingReceive>(pending.operation).communicator),
                                  pending.id);
}

}  // namespace otf2
