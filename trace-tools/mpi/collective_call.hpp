// SPDX-License-Identifier: Apache-2.0
// Common parts of collective calls: how they are recorded, and how many bytes they send from and deliver to this rank.
#pragma once

#include "trace-tools/mpi/recorded_call.hpp"
#include "trace-tools/mpi/requests.hpp"

#include <optional>

namespace otf2 {

struct Traffic {
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_bytes = 0;
};

// Records a collective call. After a successful call, calls traffic() and then record(location, around, what), which
// writes the events between the region's begin and end.
template <class Ask, class Call, class Record>
int collective(const MpiFunction& function, Operation operation, MPI_Comm communicator, std::uint32_t root,
               const Ask& traffic, const Call& call, const Record& record)
{
    LocationRecorder* location = recording_location();
    if (location == nullptr) return call();
    const std::optional<CommunicatorRef> on = communicator_of(*location, communicator);
    if (!on) {
        const RecordedCall time_only{*location, function};
        return call();
    }
    RecordedCall around{*location, function};
    const int code = around.run(call);
    if (code != MPI_SUCCESS) return code;
    const Traffic bytes = traffic();
    record(*location, around,
           CollectiveEnd{.operation = operation,
                         .communicator = *on,
                         .root = root,
                         .sent_bytes = bytes.sent_bytes,
                         .received_bytes = bytes.received_bytes});
    return code;
}

template <class Ask, class Call>
int blocking(const MpiFunction& function, Operation operation, MPI_Comm communicator, std::uint32_t root,
             const Ask& traffic, const Call& call)
{
    return collective(function, operation, communicator, root, traffic, call,
                      [&](LocationRecorder& location, RecordedCall& around, const CollectiveEnd& what) {
                          location.collective_begin(around.begin_ns());
                          location.collective_end(around.end_ns(), what);
                      });
}

template <class Ask, class Call>
int non_blocking(const MpiFunction& function, Operation operation, MPI_Comm communicator, std::uint32_t root,
                 MPI_Request* request, const Ask& traffic, const Call& call)
{
    return collective(function, operation, communicator, root, traffic, call,
                      [&](LocationRecorder& location, RecordedCall& around, const CollectiveEnd& what) {
                          const std::uint64_t id = new_request_id();
                          location.collective_request(around.begin_ns(), id);
                          remember(*request, {.id = id, .operation = PendingCollective{what}});
                      });
}

inline std::uint32_t rank(int root)
{
    return static_cast<std::uint32_t>(root);
}

// Traffic of each operation, from its arguments. Buffers are only compared with MPI_IN_PLACE, for which MPI ignores the
// arguments that belong to the buffer.
Traffic no_traffic();
Traffic reduction(int count, MPI_Datatype type);  // sent as well as received
Traffic exclusive_scan(int count, MPI_Datatype type, MPI_Comm communicator);
Traffic broadcast(int count, MPI_Datatype type, int root, MPI_Comm communicator);
Traffic reduction_to_root(int count, MPI_Datatype type, int root, MPI_Comm communicator);
Traffic gather(const void* send, int send_count, MPI_Datatype send_type, int receive_count, MPI_Datatype receive_type,
               int root, MPI_Comm communicator);
Traffic gatherv(const void* send, int send_count, MPI_Datatype send_type, const int receive_counts[],
                MPI_Datatype receive_type, int root, MPI_Comm communicator);
Traffic scatter(int send_count, MPI_Datatype send_type, const void* receive, int receive_count,
                MPI_Datatype receive_type, int root, MPI_Comm communicator);
Traffic scatterv(const int send_counts[], MPI_Datatype send_type, const void* receive, int receive_count,
                 MPI_Datatype receive_type, int root, MPI_Comm communicator);
Traffic allgather(const void* send, int send_count, MPI_Datatype send_type, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm communicator);
Traffic allgatherv(const void* send, int send_count, MPI_Datatype send_type, const int receive_counts[],
                   MPI_Datatype receive_type, MPI_Comm communicator);
Traffic alltoall(const void* send, int send_count, MPI_Datatype send_type, int receive_count, MPI_Datatype receive_type,
                 MPI_Comm communicator);
Traffic alltoallv(const void* send, const int send_counts[], MPI_Datatype send_type, const int receive_counts[],
                  MPI_Datatype receive_type, MPI_Comm communicator);
Traffic alltoallw(const void* send, const int send_counts[], const MPI_Datatype send_types[],
                  const int receive_counts[], const MPI_Datatype receive_types[], MPI_Comm communicator);
Traffic reduce_scatter(const int counts[], MPI_Datatype type, MPI_Comm communicator);
Traffic reduce_scatter_block(int count, MPI_Datatype type, MPI_Comm communicator);

}  // namespace otf2
