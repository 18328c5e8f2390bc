// SPDX-License-Identifier: Apache-2.0
// Records MPI's collectives, blocking and not, as record_mpi.hpp describes.
#include "trace-tools/mpi/recorded_call.hpp"
#include "trace-tools/mpi/requests.hpp"

#include <optional>

namespace otf2 {

namespace {

struct Traffic {
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_bytes = 0;
};

// Records a collective call. After a successful call, calls traffic() and then record(location, around, what), which
// writes the events between the region's start and end.
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

std::uint32_t rank(int root)
{
    return static_cast<std::uint32_t>(root);
}

// Returns the bytes of one rank's block. With MPI_IN_PLACE, the arguments of the other buffer apply.
std::uint64_t block(const void* buffer, int count, MPI_Datatype type, int other_count, MPI_Datatype other_type)
{
    return buffer == MPI_IN_PLACE ? bytes_of(other_count, other_type) : bytes_of(count, type);
}

std::uint64_t times_size(std::uint64_t bytes, MPI_Comm communicator)
{
    return bytes * static_cast<std::uint64_t>(size_of(communicator));
}

// Traffic of each operation, from its arguments. Buffers are only compared with MPI_IN_PLACE, for which MPI ignores the
// arguments that belong to the buffer.
Traffic reduction(int count, MPI_Datatype type)
{
    const std::uint64_t bytes = bytes_of(count, type);
    return {.sent_bytes = bytes, .received_bytes = bytes};
}

Traffic exclusive_scan(int count, MPI_Datatype type, MPI_Comm communicator)
{
    const std::uint64_t bytes = bytes_of(count, type);
    return {.sent_bytes = bytes, .received_bytes = rank_in(communicator) == 0 ? 0 : bytes};
}

Traffic broadcast(int count, MPI_Datatype type, int root, MPI_Comm communicator)
{
    const std::uint64_t bytes = bytes_of(count, type);
    return rank_in(communicator) == root ? Traffic{.sent_bytes = bytes, .received_bytes = 0}
                                         : Traffic{.sent_bytes = 0, .received_bytes = bytes};
}

Traffic reduction_to_root(int count, MPI_Datatype type, int root, MPI_Comm communicator)
{
    const std::uint64_t bytes = bytes_of(count, type);
    return {.sent_bytes = bytes, .received_bytes = rank_in(communicator) == root ? bytes : 0};
}

Traffic gather(const void* send, int send_count, MPI_Datatype send_type, int receive_count, MPI_Datatype receive_type,
               int root, MPI_Comm communicator)
{
    const bool at_root = rank_in(communicator) == root;
    return {.sent_bytes = block(send, send_count, send_type, receive_count, receive_type),
            .received_bytes = at_root ? times_size(bytes_of(receive_count, receive_type), communicator) : 0};
}

Traffic gatherv(const void* send, int send_count, MPI_Datatype send_type, const int receive_counts[],
                MPI_Datatype receive_type, int root, MPI_Comm communicator)
{
    const bool at_root = rank_in(communicator) == root;
    return {.sent_bytes =
                send == MPI_IN_PLACE ? bytes_of(receive_counts[root], receive_type) : bytes_of(send_count, send_type),
            .received_bytes = at_root ? bytes_of(receive_counts, communicator, receive_type) : 0};
}

Traffic scatter(int send_count, MPI_Datatype send_type, const void* receive, int receive_count,
                MPI_Datatype receive_type, int root, MPI_Comm communicator)
{
    const bool at_root = rank_in(communicator) == root;
    return {.sent_bytes = at_root ? times_size(bytes_of(send_count, send_type), communicator) : 0,
            .received_bytes = block(receive, receive_count, receive_type, send_count, send_type)};
}

Traffic scatterv(const int send_counts[], MPI_Datatype send_type, const void* receive, int receive_count,
                 MPI_Datatype receive_type, int root, MPI_Comm communicator)
{
    const bool at_root = rank_in(communicator) == root;
    return {.sent_bytes = at_root ? bytes_of(send_counts, communicator, send_type) : 0,
            .received_bytes = receive == MPI_IN_PLACE ? bytes_of(send_counts[root], send_type)
                                                      : bytes_of(receive_count, receive_type)};
}

Traffic allgather(const void* send, int send_count, MPI_Datatype send_type, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm communicator)
{
    return {.sent_bytes = block(send, send_count, send_type, receive_count, receive_type),
            .received_bytes = times_size(bytes_of(receive_count, receive_type), communicator)};
}

Traffic allgatherv(const void* send, int send_count, MPI_Datatype send_type, const int receive_counts[],
                   MPI_Datatype receive_type, MPI_Comm communicator)
{
    const int own_count = receive_counts[rank_in(communicator)];
    return {.sent_bytes = block(send, send_count, send_type, own_count, receive_type),
            .received_bytes = bytes_of(receive_counts, communicator, receive_type)};
}

Traffic alltoall(const void* send, int send_count, MPI_Datatype send_type, int receive_count, MPI_Datatype receive_type,
                 MPI_Comm communicator)
{
    return {.sent_bytes = times_size(block(send, send_count, send_type, receive_count, receive_type), communicator),
            .received_bytes = times_size(bytes_of(receive_count, receive_type), communicator)};
}

Traffic alltoallv(const void* send, const int send_counts[], MPI_Datatype send_type, const int receive_counts[],
                  MPI_Datatype receive_type, MPI_Comm communicator)
{
    const std::uint64_t received = bytes_of(receive_counts, communicator, receive_type);
    return {.sent_bytes = send == MPI_IN_PLACE ? received : bytes_of(send_counts, communicator, send_type),
            .received_bytes = received};
}

Traffic alltoallw(const void* send, const int send_counts[], const MPI_Datatype send_types[],
                  const int receive_counts[], const MPI_Datatype receive_types[], MPI_Comm communicator)
{
    Traffic bytes;
    for (int peer = 0; peer < size_of(communicator); ++peer) {
        const std::uint64_t received = bytes_of(receive_counts[peer], receive_types[peer]);
        bytes.received_bytes += received;
        bytes.sent_bytes += send == MPI_IN_PLACE ? received : bytes_of(send_counts[peer], send_types[peer]);
    }
    return bytes;
}

// Sends a block to every rank, and receives this rank's block after reduction.
Traffic reduce_scatter(const int counts[], MPI_Datatype type, MPI_Comm communicator)
{
    return {.sent_bytes = bytes_of(counts, communicator, type),
            .received_bytes = bytes_of(counts[rank_in(communicator)], type)};
}

// Same, with blocks of equal size.
Traffic reduce_scatter_block(int count, MPI_Datatype type, MPI_Comm communicator)
{
    const std::uint64_t bytes = bytes_of(count, type);
    return {.sent_bytes = times_size(bytes, communicator), .received_bytes = bytes};
}

}  // namespace

}  // namespace otf2

using namespace otf2;

extern "C" {

#define WITHOUT_PARENTHESES(...) __VA_ARGS__
#define WITH_REQUEST(NAME, role, PARAMETERS, ARGUMENTS, ...)                                \
    CROSSTALK_MPI_CALL(NAME, role, (WITHOUT_PARENTHESES PARAMETERS, MPI_Request * request), \
                       (WITHOUT_PARENTHESES ARGUMENTS, request), __VA_ARGS__)

// A collective and its non-blocking form.
#define COLLECTIVE(NAME, NON_BLOCKING, role, operation, root, traffic, PARAMETERS, ARGUMENTS)                        \
    CROSSTALK_MPI_CALL(NAME, role, PARAMETERS, ARGUMENTS, blocking, Operation::operation, comm, root,                \
                       [&] { return traffic; })                                                                      \
    WITH_REQUEST(NON_BLOCKING, role, PARAMETERS, ARGUMENTS, non_blocking, Operation::operation, comm, root, request, \
                 [&] { return traffic; })

COLLECTIVE(MPI_Barrier, MPI_Ibarrier, barrier, barrier, no_root, Traffic{}, (MPI_Comm comm), (comm))
COLLECTIVE(MPI_Bcast, MPI_Ibcast, one_to_all, broadcast, rank(root), broadcast(count, type, root, comm),
           (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm), (buffer, count, type, root, comm))
COLLECTIVE(MPI_Reduce, MPI_Ireduce, all_to_one, reduce, rank(root), reduction_to_root(count, type, root, comm),
           (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
           (send, receive, count, type, op, root, comm))
COLLECTIVE(MPI_Allreduce, MPI_Iallreduce, all_to_all, allreduce, no_root, reduction(count, type),
           (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (send, receive, count, type, op, comm))
COLLECTIVE(MPI_Gather, MPI_Igather, all_to_one, gather, rank(root),
           gather(send, send_count, send_type, receive_count, receive_type, root, comm),
           (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
            MPI_Datatype receive_type, int root, MPI_Comm comm),
           (send, send_count, send_type, receive, receive_count, receive_type, root, comm))
COLLECTIVE(MPI_Gatherv, MPI_Igatherv, all_to_one, gatherv, rank(root),
           gatherv(send, send_count, send_type, receive_counts, receive_type, root, comm),
           (const void* send, int send_count, MPI_Datatype send_type, void* receive, const int receive_counts[],
            const int places[], MPI_Datatype receive_type, int root, MPI_Comm comm),
           (send, send_count, send_type, receive, receive_counts, places, receive_type, root, comm))
COLLECTIVE(MPI_Scatter, MPI_Iscatter, one_to_all, scatter, rank(root),
           scatter(send_count, send_type, receive, receive_count, receive_type, root, comm),
           (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
            MPI_Datatype receive_type, int root, MPI_Comm comm),
           (send, send_count, send_type, receive, receive_count, receive_type, root, comm))
COLLECTIVE(MPI_Scatterv, MPI_Iscatterv, one_to_all, scatterv, rank(root),
           scatterv(send_counts, send_type, receive, receive_count, receive_type, root, comm),
           (const void* send, const int send_counts[], const int places[], MPI_Datatype send_type, void* receive,
            int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm),
           (send, send_counts, places, send_type, receive, receive_count, receive_type, root, comm))
COLLECTIVE(MPI_Allgather, MPI_Iallgather, all_to_all, allgather, no_root,
           allgather(send, send_count, send_type, receive_count, receive_type, comm),
           (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
            MPI_Datatype receive_type, MPI_Comm comm),
           (send, send_count, send_type, receive, receive_count, receive_type, comm))
COLLECTIVE(MPI_Allgatherv, MPI_Iallgatherv, all_to_all, allgatherv, no_root,
           allgatherv(send, send_count, send_type, receive_counts, receive_type, comm),
           (const void* send, int send_count, MPI_Datatype send_type, void* receive, const int receive_counts[],
            const int places[], MPI_Datatype receive_type, MPI_Comm comm),
           (send, send_count, send_type, receive, receive_counts, places, receive_type, comm))
COLLECTIVE(MPI_Alltoall, MPI_Ialltoall, all_to_all, alltoall, no_root,
           alltoall(send, send_count, send_type, receive_count, receive_type, comm),
           (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
            MPI_Datatype receive_type, MPI_Comm comm),
           (send, send_count, send_type, receive, receive_count, receive_type, comm))
COLLECTIVE(MPI_Alltoallv, MPI_Ialltoallv, all_to_all, alltoallv, no_root,
           alltoallv(send, send_counts, send_type, receive_counts, receive_type, comm),
           (const void* send, const int send_counts[], const int send_places[], MPI_Datatype send_type, void* receive,
            const int receive_counts[], const int receive_places[], MPI_Datatype receive_type, MPI_Comm comm),
           (send, send_counts, send_places, send_type, receive, receive_counts, receive_places, receive_type, comm))
COLLECTIVE(MPI_Alltoallw, MPI_Ialltoallw, all_to_all, alltoallw, no_root,
           alltoallw(send, send_counts, send_types, receive_counts, receive_types, comm),
           (const void* send, const int send_counts[], const int send_places[], const MPI_Datatype send_types[],
            void* receive, const int receive_counts[], const int receive_places[], const MPI_Datatype receive_types[],
            MPI_Comm comm),
           (send, send_counts, send_places, send_types, receive, receive_counts, receive_places, receive_types, comm))
COLLECTIVE(MPI_Reduce_scatter, MPI_Ireduce_scatter, all_to_all, reduce_scatter, no_root,
           reduce_scatter(counts, type, comm),
           (const void* send, void* receive, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (send, receive, counts, type, op, comm))
COLLECTIVE(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, all_to_all, reduce_scatter_block, no_root,
           reduce_scatter_block(count, type, comm),
           (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (send, receive, count, type, op, comm))
COLLECTIVE(MPI_Scan, MPI_Iscan, collective_other, scan, no_root, reduction(count, type),
           (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (send, receive, count, type, op, comm))
COLLECTIVE(MPI_Exscan, MPI_Iexscan, collective_other, exscan, no_root, exclusive_scan(count, type, comm),
           (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (send, receive, count, type, op, comm))

// OTF2 cannot represent neighbourhood collectives: only their time is recorded.
#define NEIGHBOR(NAME, NON_BLOCKING, PARAMETERS, ARGUMENTS)                      \
    CROSSTALK_MPI_CALL(NAME, collective_other, PARAMETERS, ARGUMENTS, time_only) \
    WITH_REQUEST(NON_BLOCKING, collective_other, PARAMETERS, ARGUMENTS, time_only)

NEIGHBOR(MPI_Neighbor_allgather, MPI_Ineighbor_allgather,
         (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
          MPI_Datatype receive_type, MPI_Comm comm),
         (send, send_count, send_type, receive, receive_count, receive_type, comm))
NEIGHBOR(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv,
         (const void* send, int send_count, MPI_Datatype send_type, void* receive, const int receive_counts[],
          const int places[], MPI_Datatype receive_type, MPI_Comm comm),
         (send, send_count, send_type, receive, receive_counts, places, receive_type, comm))
NEIGHBOR(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall,
         (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
          MPI_Datatype receive_type, MPI_Comm comm),
         (send, send_count, send_type, receive, receive_count, receive_type, comm))
NEIGHBOR(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv,
         (const void* send, const int send_counts[], const int send_places[], MPI_Datatype send_type, void* receive,
          const int receive_counts[], const int receive_places[], MPI_Datatype receive_type, MPI_Comm comm),
         (send, send_counts, send_places, send_type, receive, receive_counts, receive_places, receive_type, comm))
NEIGHBOR(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw,
         (const void* send, const int send_counts[], const MPI_Aint send_places[], const MPI_Datatype send_types[],
          void* receive, const int receive_counts[], const MPI_Aint receive_places[],
          const MPI_Datatype receive_types[], MPI_Comm comm),
         (send, send_counts, send_places, send_types, receive, receive_counts, receive_places, receive_types, comm))

}  // extern "C"
