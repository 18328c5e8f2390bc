// MPI's messages from one rank to another, recorded: a send right after the call begins, a receive right before it
// ends.
#include "trace-tools/mpi/recorded_call.hpp"
#include "trace-tools/mpi/requests.hpp"

namespace otf2 {

namespace {

Message outgoing(int to, int tag, int count, MPI_Datatype type, CommunicatorRef communicator)
{
    return {.peer = static_cast<std::uint32_t>(to),
            .communicator = communicator,
            .tag = static_cast<std::uint32_t>(tag),
            .bytes = bytes_of(count, type)};
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

}  // namespace

}  // namespace otf2

using namespace otf2;

extern "C" {

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Send", RegionRole::point_to_point};
    LocationRecorder* location = recording_location();
    if (location == nullptr) return PMPI_Send(buffer, count, type, to, tag, comm);
    const std::optional<CommunicatorRef> on = communicator_of(*location, comm);
    const RecordedCall recorded{*location, function};
    if (on && to >= 0) location->send(recorded.begin_ns(), outgoing(to, tag, count, type, *on));
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status)
{
    static const MpiFunction function{"MPI_Recv", RegionRole::point_to_point};
    LocationRecorder* location = recording_location();
    if (location == nullptr) return PMPI_Recv(buffer, count, type, from, tag, comm, status);
    const std::optional<CommunicatorRef> on = communicator_of(*location, comm);
    RecordedCall recorded{*location, function};
    MPI_Status own{};
    if (status == MPI_STATUS_IGNORE) status = &own;
    const int code = PMPI_Recv(buffer, count, type, from, tag, comm, status);
    if (code == MPI_SUCCESS && on && status->MPI_SOURCE >= 0)
        location->receive(recorded.end_ns(), incoming(*status, *on));
    return code;
}

int MPI_Sendrecv(const void* send, int send_count, MPI_Datatype send_type, int to, int send_tag, void* receive,
                 int receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
                 MPI_Status* status)
{
    static const MpiFunction function{"MPI_Sendrecv", RegionRole::point_to_point};
    const auto call = [&](MPI_Status* into) {
        return PMPI_Sendrecv(send, send_count, send_type, to, send_tag, receive, receive_count, receive_type, from,
                             receive_tag, comm, into);
    };
    LocationRecorder* location = recording_location();
    if (location == nullptr) return call(status);
    const std::optional<CommunicatorRef> on = communicator_of(*location, comm);
    RecordedCall recorded{*location, function};
    if (on && to >= 0) location->send(recorded.begin_ns(), outgoing(to, send_tag, send_count, send_type, *on));
    MPI_Status own{};
    if (status == MPI_STATUS_IGNORE) status = &own;
    const int code = call(status);
    if (code == MPI_SUCCESS && on && status->MPI_SOURCE >= 0)
        location->receive(recorded.end_ns(), incoming(*status, *on));
    return code;
}

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Isend", RegionRole::point_to_point};
    LocationRecorder* location = recording_location();
    if (location == nullptr) return PMPI_Isend(buffer, count, type, to, tag, comm, request);
    const std::optional<CommunicatorRef> on = communicator_of(*location, comm);
    const RecordedCall recorded{*location, function};
    const bool told = on && to >= 0;
    const std::uint64_t id = new_request_id();
    if (told) location->send_request(recorded.begin_ns(), outgoing(to, tag, count, type, *on), id);
    const int code = PMPI_Isend(buffer, count, type, to, tag, comm, request);
    if (told && code == MPI_SUCCESS) remember(*request, {.id = id, .operation = PendingSend{}});
    return code;
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Irecv", RegionRole::point_to_point};
    LocationRecorder* location = recording_location();
    if (location == nullptr) return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
    const std::optional<CommunicatorRef> on = communicator_of(*location, comm);
    const RecordedCall recorded{*location, function};
    const bool told = on && from != MPI_PROC_NULL;
    const std::uint64_t id = new_request_id();
    if (told) location->receive_request(recorded.begin_ns(), id);
    const int code = PMPI_Irecv(buffer, count, type, from, tag, comm, request);
    if (told && code == MPI_SUCCESS) remember(*request, {.id = id, .operation = PendingReceive{*on}});
    return code;
}

}  // extern "C"
