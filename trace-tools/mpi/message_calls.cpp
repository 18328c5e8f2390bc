// SPDX-License-Identifier: Apache-2.0
// Records MPI's point-to-point messages: a send right after the call begins, a receive right before it ends.
// Unsuccessful probes become part of the successful one that follows.
#include "trace-tools/mpi/recorded_call.hpp"
#include "trace-tools/mpi/requests.hpp"

namespace otf2 {

namespace {

// Arguments of a point-to-point call. MPI_PROC_NULL as peer: there is no message.
struct Envelope {
    int peer;
    int tag;
    int count;
    MPI_Datatype type;
    MPI_Comm communicator;
};

std::optional<Message> outgoing(LocationRecorder& location, const Envelope& envelope)
{
    if (envelope.peer < 0) return {};
    const std::optional<CommunicatorRef> on = communicator_of(location, envelope.communicator);
    if (!on) return {};
    return Message{.peer = static_cast<std::uint32_t>(envelope.peer),
                   .communicator = *on,
                   .tag = static_cast<std::uint32_t>(envelope.tag),
                   .bytes = bytes_of(envelope.count, envelope.type)};
}

template <class Call>
int sending(const MpiFunction& function, const Envelope& envelope, const Call& call)
{
    LocationRecorder* location = recording_location();
    if (location == nullptr) return call();
    RecordedCall recorded{*location, function};
    const int code = recorded.run(call);
    if (code != MPI_SUCCESS) return code;
    if (const auto message = outgoing(*location, envelope)) location->send(recorded.begin_ns(), *message);
    return code;
}

// Records the start of a request. `what` is the message of a send, or the communicator of a receive.
void started(LocationRecorder& location, std::int64_t time_ns, MPI_Request request, const Persistent& what)
{
    const std::uint64_t id = new_request_id();
    if (const auto* message = std::get_if<Message>(&what)) {
        location.send_request(time_ns, *message, id);
        remember(request, {.id = id, .operation = PendingSend{}});
    } else {
        location.receive_request(time_ns, id);
        remember(request, {.id = id, .operation = PendingReceive{std::get<CommunicatorRef>(what)}});
    }
}

void started(LocationRecorder& location, std::int64_t time_ns, MPI_Request persistent_request)
{
    if (const auto prepared = persistent(persistent_request)) started(location, time_ns, persistent_request, *prepared);
}

template <class Call>
int starting_to_send(const MpiFunction& function, const Envelope& envelope, MPI_Request* request, const Call& call)
{
    LocationRecorder* location = recording_location();
    if (location == nullptr) return call();
    RecordedCall recorded{*location, function};
    const int code = recorded.run(call);
    if (code == MPI_SUCCESS)
        if (const auto message = outgoing(*location, envelope))
            started(*location, recorded.begin_ns(), *request, *message);
    return code;
}

template <class Call>
int preparing_to_send(const MpiFunction& function, const Envelope& envelope, MPI_Request* request, const Call& call)
{
    LocationRecorder* location = recording_location();
    if (location == nullptr) return call();
    RecordedCall recorded{*location, function};
    const int code = recorded.run(call);
    if (code != MPI_SUCCESS) return code;
    if (const auto message = outgoing(*location, envelope)) remember_persistent(*request, *message);
    return code;
}

// Records a call that receives, and may also send. call(status) makes the MPI call. on() is called after it and returns
// the communicator; empty: only the time is recorded.
template <class On, class Call>
int receiving(const MpiFunction& function, const std::optional<Envelope>& sent, MPI_Status* status, const On& on,
              const Call& call)
{
    LocationRecorder* location = recording_location();
    if (location == nullptr) return call(status);
    RecordedCall recorded{*location, function};
    MPI_Status own{};
    if (status == MPI_STATUS_IGNORE) status = &own;
    const int code = recorded.run([&] { return call(status); });
    const std::optional<CommunicatorRef> communicator = on(*location);
    if (code != MPI_SUCCESS || !communicator) return code;
    if (const auto message = sent ? outgoing(*location, *sent) : std::nullopt)
        location->send(recorded.begin_ns(), *message);
    if (status->MPI_SOURCE >= 0) location->receive(recorded.end_ns(), incoming(*status, *communicator));
    return code;
}

template <class Call>
int starting_to_receive(const MpiFunction& function, const std::optional<CommunicatorRef>& on,
                        LocationRecorder& location, MPI_Request* request, const Call& call)
{
    RecordedCall recorded{location, function};
    const int code = recorded.run(call);
    if (on && code == MPI_SUCCESS) started(location, recorded.begin_ns(), *request, *on);
    return code;
}

// Records a successful probe that began at begin_ns.
void tell(const MpiFunction& function, std::int64_t begin_ns)
{
    if (LocationRecorder* location = recording_location()) const RecordedCall recorded{*location, function, begin_ns};
}

// Remembers the communicator of a probed message for the MPI_Mrecv that will receive it.
void probed(MPI_Message message, MPI_Comm communicator)
{
    LocationRecorder* location = recording_location();
    if (location == nullptr) return;
    if (const auto on = communicator_of(*location, communicator)) remember_probed(message, *on);
}

}  // namespace

}  // namespace otf2

using namespace otf2;

extern "C" {

// The modes of a send differ in nothing but the name.
#define SEND(NAME)                                                                                         \
    CROSSTALK_MPI_CALL(NAME, point_to_point,                                                               \
                       (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm), \
                       (buffer, count, type, to, tag, comm), sending, {to, tag, count, type, comm})
#define SEND_WITH_REQUEST(NAME, record)                                                                           \
    CROSSTALK_MPI_CALL(                                                                                           \
        NAME, point_to_point,                                                                                     \
        (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request), \
        (buffer, count, type, to, tag, comm, request), record, {to, tag, count, type, comm}, request)

SEND(MPI_Send)
SEND(MPI_Ssend)
SEND(MPI_Bsend)
SEND(MPI_Rsend)
SEND_WITH_REQUEST(MPI_Isend, starting_to_send)
SEND_WITH_REQUEST(MPI_Issend, starting_to_send)
SEND_WITH_REQUEST(MPI_Ibsend, starting_to_send)
SEND_WITH_REQUEST(MPI_Irsend, starting_to_send)
SEND_WITH_REQUEST(MPI_Send_init, preparing_to_send)
SEND_WITH_REQUEST(MPI_Ssend_init, preparing_to_send)
SEND_WITH_REQUEST(MPI_Bsend_init, preparing_to_send)
SEND_WITH_REQUEST(MPI_Rsend_init, preparing_to_send)

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status)
{
    static const MpiFunction function{"MPI_Recv", RegionRole::point_to_point};
    return receiving(
        function, {}, status, [&](LocationRecorder& location) { return communicator_of(location, comm); },
        [&](MPI_Status* into) { return PMPI_Recv(buffer, count, type, from, tag, comm, into); });
}

int MPI_Sendrecv(const void* send, int send_count, MPI_Datatype send_type, int to, int send_tag, void* receive,
                 int receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
                 MPI_Status* status)
{
    static const MpiFunction function{"MPI_Sendrecv", RegionRole::point_to_point};
    return receiving(
        function, Envelope{to, send_tag, send_count, send_type, comm}, status,
        [&](LocationRecorder& location) { return communicator_of(location, comm); },
        [&](MPI_Status* into) {
            return PMPI_Sendrecv(send, send_count, send_type, to, send_tag, receive, receive_count, receive_type, from,
                                 receive_tag, comm, into);
        });
}

int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int send_tag, int from, int receive_tag,
                         MPI_Comm comm, MPI_Status* status)
{
    static const MpiFunction function{"MPI_Sendrecv_replace", RegionRole::point_to_point};
    return receiving(
        function, Envelope{to, send_tag, count, type, comm}, status,
        [&](LocationRecorder& location) { return communicator_of(location, comm); },
        [&](MPI_Status* into) {
            return PMPI_Sendrecv_replace(buffer, count, type, to, send_tag, from, receive_tag, comm, into);
        });
}

int MPI_Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status)
{
    static const MpiFunction function{"MPI_Mrecv", RegionRole::point_to_point};
    const MPI_Message probed = *message;
    return receiving(
        function, {}, status, [&](LocationRecorder&) { return take_probed(probed); },
        [&](MPI_Status* into) { return PMPI_Mrecv(buffer, count, type, message, into); });
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Irecv", RegionRole::point_to_point};
    const auto call = [&] { return PMPI_Irecv(buffer, count, type, from, tag, comm, request); };
    LocationRecorder* location = recording_location();
    if (location == nullptr) return call();
    const auto on = from == MPI_PROC_NULL ? std::nullopt : communicator_of(*location, comm);
    return starting_to_receive(function, on, *location, request, call);
}

int MPI_Imrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Imrecv", RegionRole::point_to_point};
    const auto call = [&] { return PMPI_Imrecv(buffer, count, type, message, request); };
    const std::optional<CommunicatorRef> on = take_probed(*message);
    LocationRecorder* location = recording_location();
    if (location == nullptr) return call();
    return starting_to_receive(function, on, *location, request, call);
}

int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Recv_init", RegionRole::point_to_point};
    const auto call = [&] { return PMPI_Recv_init(buffer, count, type, from, tag, comm, request); };
    LocationRecorder* location = recording_location();
    if (location == nullptr) return call();
    const auto on = from == MPI_PROC_NULL ? std::nullopt : communicator_of(*location, comm);
    const RecordedCall recorded{*location, function};
    const int code = call();
    if (on && code == MPI_SUCCESS) remember_persistent(*request, *on);
    return code;
}

int MPI_Start(MPI_Request* request)
{
    static const MpiFunction function{"MPI_Start", RegionRole::point_to_point};
    LocationRecorder* location = recording_location();
    if (location == nullptr) return PMPI_Start(request);
    RecordedCall recorded{*location, function};
    const int code = recorded.run([&] { return PMPI_Start(request); });
    if (code == MPI_SUCCESS) started(*location, recorded.begin_ns(), *request);
    return code;
}

int MPI_Startall(int count, MPI_Request requests[])
{
    static const MpiFunction function{"MPI_Startall", RegionRole::point_to_point};
    LocationRecorder* location = recording_location();
    if (location == nullptr) return PMPI_Startall(count, requests);
    RecordedCall recorded{*location, function};
    const int code = recorded.run([&] { return PMPI_Startall(count, requests); });
    for (int i = 0; code == MPI_SUCCESS && i < count; ++i) started(*location, recorded.begin_ns(), requests[i]);
    return code;
}

CROSSTALK_MPI_CALL(MPI_Probe, point_to_point, (int from, int tag, MPI_Comm comm, MPI_Status* status),
                   (from, tag, comm, status), time_only)

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status)
{
    static const MpiFunction function{"MPI_Iprobe", RegionRole::point_to_point};
    const std::int64_t begin_ns = begin_call();
    const int code = PMPI_Iprobe(from, tag, comm, flag, status);
    if (code == MPI_SUCCESS && *flag != 0) tell(function, begin_ns);
    if (code == MPI_SUCCESS && *flag == 0) found_nothing();
    return code;
}

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status)
{
    static const MpiFunction function{"MPI_Mprobe", RegionRole::point_to_point};
    const int code = time_only(function, [&] { return PMPI_Mprobe(from, tag, comm, message, status); });
    if (code == MPI_SUCCESS) probed(*message, comm);
    return code;
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status)
{
    static const MpiFunction function{"MPI_Improbe", RegionRole::point_to_point};
    const std::int64_t begin_ns = begin_call();
    const int code = PMPI_Improbe(from, tag, comm, flag, message, status);
    if (code == MPI_SUCCESS && *flag == 0) found_nothing();
    if (code != MPI_SUCCESS || *flag == 0) return code;
    tell(function, begin_ns);
    probed(*message, comm);
    return code;
}

}  // extern "C"
