// MPI's collectives, recorded. Comments: see record_mpi.hpp.
#include "trace-tools/mpi/recorded_call.hpp"
#include "trace-tools/mpi/requests.hpp"

namespace otf2 {

namespace {

struct Traffic {
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_bytes = 0;
};

// What any collective call does to be recorded. traffic() is asked only if the call is recorded; record(location,
// around, what) calls, and writes what belongs between the region's ends.
template <class Ask, class Call, class Record>
int recorded(const MpiFunction& function, Operation operation, MPI_Comm communicator, std::uint32_t root,
             const Ask& traffic, const Call& call, const Record& record)
{
    LocationRecorder* location = recording_location();
    if (location == nullptr) return call();
    const std::optional<CommunicatorRef> on = communicator_of(*location, communicator);
    if (!on) {
        const RecordedCall time_only{*location, function};
        return call();
    }
    const Traffic bytes = traffic();
    RecordedCall around{*location, function};
    return record(*location, around,
                  CollectiveEnd{.operation = operation,
                                .communicator = *on,
                                .root = root,
                                .sent_bytes = bytes.sent_bytes,
                                .received_bytes = bytes.received_bytes});
}

template <class Ask, class Call>
int blocking(const MpiFunction& function, Operation operation, MPI_Comm communicator, std::uint32_t root,
             const Ask& traffic, const Call& call)
{
    return recorded(function, operation, communicator, root, traffic, call,
                    [&](LocationRecorder& location, RecordedCall& around, const CollectiveEnd& what) {
                        location.collective_begin(around.begin_ns());
                        const int code = call();
                        location.collective_end(around.end_ns(), what);
                        return code;
                    });
}

template <class Ask, class Call>
int non_blocking(const MpiFunction& function, Operation operation, MPI_Comm communicator, std::uint32_t root,
                 MPI_Request* request, const Ask& traffic, const Call& call)
{
    return recorded(function, operation, communicator, root, traffic, call,
                    [&](LocationRecorder& location, RecordedCall& around, const CollectiveEnd& what) {
                        const std::uint64_t id = new_request_id();
                        location.collective_request(around.begin_ns(), id);
                        const int code = call();
                        if (code == MPI_SUCCESS) remember(*request, {.id = id, .operation = PendingCollective{what}});
                        return code;
                    });
}

Traffic nothing()
{
    return {};
}

Traffic same_both_ways(int count, MPI_Datatype type)
{
    const std::uint64_t bytes = bytes_of(count, type);
    return {.sent_bytes = bytes, .received_bytes = bytes};
}

Traffic from_root(int count, MPI_Datatype type, int root, MPI_Comm communicator)
{
    const std::uint64_t bytes = bytes_of(count, type);
    return rank_in(communicator) == root ? Traffic{.sent_bytes = bytes, .received_bytes = 0}
                                         : Traffic{.sent_bytes = 0, .received_bytes = bytes};
}

Traffic to_root(int count, MPI_Datatype type, int root, MPI_Comm communicator)
{
    const std::uint64_t bytes = bytes_of(count, type);
    return {.sent_bytes = bytes, .received_bytes = rank_in(communicator) == root ? bytes : 0};
}

// Each rank's block; the send arguments mean nothing where the data is in place already.
std::uint64_t block(const void* buffer, int count, MPI_Datatype type, int other_count, MPI_Datatype other_type)
{
    return buffer == MPI_IN_PLACE ? bytes_of(other_count, other_type) : bytes_of(count, type);
}

// One of each length for each rank; the send arguments mean nothing where the data is in place already.
Traffic parts(const void* send, const int send_counts[], MPI_Datatype send_type, const int receive_counts[],
              MPI_Datatype receive_type, MPI_Comm communicator)
{
    const std::uint64_t received = bytes_of(receive_counts, communicator, receive_type);
    return {.sent_bytes = send == MPI_IN_PLACE ? received : bytes_of(send_counts, communicator, send_type),
            .received_bytes = received};
}

std::uint32_t rank(int root)
{
    return static_cast<std::uint32_t>(root);
}

std::uint64_t times_size(std::uint64_t bytes, MPI_Comm communicator)
{
    return bytes * static_cast<std::uint64_t>(size_of(communicator));
}

// Everybody's block to everybody.
Traffic block_to_all(std::uint64_t mine, std::uint64_t each, MPI_Comm communicator)
{
    return {.sent_bytes = mine, .received_bytes = times_size(each, communicator)};
}

// A block for everybody, and back the sum of one's own.
Traffic sum_of_blocks(std::uint64_t bytes, MPI_Comm communicator)
{
    return {.sent_bytes = times_size(bytes, communicator), .received_bytes = bytes};
}

// Numbers for everybody, by rank, and back the sums of one's own.
Traffic sums_of_parts(const int counts[], MPI_Datatype type, MPI_Comm communicator)
{
    return {.sent_bytes = bytes_of(counts, communicator, type),
            .received_bytes = bytes_of(counts[rank_in(communicator)], type)};
}

}  // namespace

}  // namespace otf2

using namespace otf2;

extern "C" {

int MPI_Barrier(MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Barrier", RegionRole::barrier};
    return blocking(function, Operation::barrier, comm, no_root, nothing, [&] { return PMPI_Barrier(comm); });
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Bcast", RegionRole::one_to_all};
    return blocking(
        function, Operation::broadcast, comm, rank(root), [&] { return from_root(count, type, root, comm); },
        [&] { return PMPI_Bcast(buffer, count, type, root, comm); });
}

int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Reduce", RegionRole::all_to_one};
    return blocking(
        function, Operation::reduce, comm, rank(root), [&] { return to_root(count, type, root, comm); },
        [&] { return PMPI_Reduce(send, receive, count, type, op, root, comm); });
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Allreduce", RegionRole::all_to_all};
    return blocking(
        function, Operation::allreduce, comm, no_root, [&] { return same_both_ways(count, type); },
        [&] { return PMPI_Allreduce(send, receive, count, type, op, comm); });
}

int MPI_Gather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
               MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Gather", RegionRole::all_to_one};
    const auto traffic = [&] {
        const std::uint64_t mine = block(send, send_count, send_type, receive_count, receive_type);
        const bool at_root = rank_in(comm) == root;
        return Traffic{.sent_bytes = mine,
                       .received_bytes = at_root ? times_size(bytes_of(receive_count, receive_type), comm) : 0};
    };
    return blocking(function, Operation::gather, comm, rank(root), traffic, [&] {
        return PMPI_Gather(send, send_count, send_type, receive, receive_count, receive_type, root, comm);
    });
}

int MPI_Gatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int receive_counts[],
                const int places[], MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Gatherv", RegionRole::all_to_one};
    const auto traffic = [&] {
        const bool at_root = rank_in(comm) == root;
        const std::uint64_t mine =
            send == MPI_IN_PLACE ? bytes_of(receive_counts[root], receive_type) : bytes_of(send_count, send_type);
        return Traffic{.sent_bytes = mine,
                       .received_bytes = at_root ? bytes_of(receive_counts, comm, receive_type) : 0};
    };
    return blocking(function, Operation::gatherv, comm, rank(root), traffic, [&] {
        return PMPI_Gatherv(send, send_count, send_type, receive, receive_counts, places, receive_type, root, comm);
    });
}

int MPI_Scatter(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Scatter", RegionRole::one_to_all};
    const auto traffic = [&] {
        const bool at_root = rank_in(comm) == root;
        return Traffic{.sent_bytes = at_root ? times_size(bytes_of(send_count, send_type), comm) : 0,
                       .received_bytes = block(receive, receive_count, receive_type, send_count, send_type)};
    };
    return blocking(function, Operation::scatter, comm, rank(root), traffic, [&] {
        return PMPI_Scatter(send, send_count, send_type, receive, receive_count, receive_type, root, comm);
    });
}

int MPI_Allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Allgather", RegionRole::all_to_all};
    const auto traffic = [&] {
        return block_to_all(block(send, send_count, send_type, receive_count, receive_type),
                            bytes_of(receive_count, receive_type), comm);
    };
    return blocking(function, Operation::allgather, comm, no_root, traffic, [&] {
        return PMPI_Allgather(send, send_count, send_type, receive, receive_count, receive_type, comm);
    });
}

int MPI_Allgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int receive_counts[],
                   const int places[], MPI_Datatype receive_type, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Allgatherv", RegionRole::all_to_all};
    const auto traffic = [&] {
        const int own_count = receive_counts[rank_in(comm)];
        return Traffic{.sent_bytes = block(send, send_count, send_type, own_count, receive_type),
                       .received_bytes = bytes_of(receive_counts, comm, receive_type)};
    };
    return blocking(function, Operation::allgatherv, comm, no_root, traffic, [&] {
        return PMPI_Allgatherv(send, send_count, send_type, receive, receive_counts, places, receive_type, comm);
    });
}

int MPI_Reduce_scatter(const void* send, void* receive, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Reduce_scatter", RegionRole::all_to_all};
    return blocking(
        function, Operation::reduce_scatter, comm, no_root, [&] { return sums_of_parts(counts, type, comm); },
        [&] { return PMPI_Reduce_scatter(send, receive, counts, type, op, comm); });
}

int MPI_Reduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Reduce_scatter_block", RegionRole::all_to_all};
    const auto traffic = [&] { return sum_of_blocks(bytes_of(count, type), comm); };
    return blocking(function, Operation::reduce_scatter_block, comm, no_root, traffic,
                    [&] { return PMPI_Reduce_scatter_block(send, receive, count, type, op, comm); });
}

int MPI_Alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                 MPI_Datatype receive_type, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Alltoall", RegionRole::all_to_all};
    const auto traffic = [&] {
        return Traffic{.sent_bytes = times_size(block(send, send_count, send_type, receive_count, receive_type), comm),
                       .received_bytes = times_size(bytes_of(receive_count, receive_type), comm)};
    };
    return blocking(function, Operation::alltoall, comm, no_root, traffic, [&] {
        return PMPI_Alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm);
    });
}

int MPI_Alltoallv(const void* send, const int send_counts[], const int send_places[], MPI_Datatype send_type,
                  void* receive, const int receive_counts[], const int receive_places[], MPI_Datatype receive_type,
                  MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Alltoallv", RegionRole::all_to_all};
    const auto traffic = [&] { return parts(send, send_counts, send_type, receive_counts, receive_type, comm); };
    return blocking(function, Operation::alltoallv, comm, no_root, traffic, [&] {
        return PMPI_Alltoallv(send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
                              receive_type, comm);
    });
}

int MPI_Ialltoallv(const void* send, const int send_counts[], const int send_places[], MPI_Datatype send_type,
                   void* receive, const int receive_counts[], const int receive_places[], MPI_Datatype receive_type,
                   MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ialltoallv", RegionRole::all_to_all};
    const auto traffic = [&] { return parts(send, send_counts, send_type, receive_counts, receive_type, comm); };
    return non_blocking(function, Operation::alltoallv, comm, no_root, request, traffic, [&] {
        return PMPI_Ialltoallv(send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
                               receive_type, comm, request);
    });
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ibarrier", RegionRole::barrier};
    return non_blocking(function, Operation::barrier, comm, no_root, request, nothing,
                        [&] { return PMPI_Ibarrier(comm, request); });
}

int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ibcast", RegionRole::one_to_all};
    return non_blocking(
        function, Operation::broadcast, comm, rank(root), request, [&] { return from_root(count, type, root, comm); },
        [&] { return PMPI_Ibcast(buffer, count, type, root, comm, request); });
}

int MPI_Ireduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ireduce", RegionRole::all_to_one};
    return non_blocking(
        function, Operation::reduce, comm, rank(root), request, [&] { return to_root(count, type, root, comm); },
        [&] { return PMPI_Ireduce(send, receive, count, type, op, root, comm, request); });
}

int MPI_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request)
{
    static const MpiFunction function{"MPI_Iallreduce", RegionRole::all_to_all};
    return non_blocking(
        function, Operation::allreduce, comm, no_root, request, [&] { return same_both_ways(count, type); },
        [&] { return PMPI_Iallreduce(send, receive, count, type, op, comm, request); });
}

int MPI_Iallgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                   MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Iallgather", RegionRole::all_to_all};
    const auto traffic = [&] {
        return block_to_all(block(send, send_count, send_type, receive_count, receive_type),
                            bytes_of(receive_count, receive_type), comm);
    };
    return non_blocking(function, Operation::allgather, comm, no_root, request, traffic, [&] {
        return PMPI_Iallgather(send, send_count, send_type, receive, receive_count, receive_type, comm, request);
    });
}

int MPI_Ireduce_scatter(const void* send, void* receive, const int counts[], MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ireduce_scatter", RegionRole::all_to_all};
    return non_blocking(
        function, Operation::reduce_scatter, comm, no_root, request, [&] { return sums_of_parts(counts, type, comm); },
        [&] { return PMPI_Ireduce_scatter(send, receive, counts, type, op, comm, request); });
}

int MPI_Ireduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                              MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ireduce_scatter_block", RegionRole::all_to_all};
    const auto traffic = [&] { return sum_of_blocks(bytes_of(count, type), comm); };
    return non_blocking(function, Operation::reduce_scatter_block, comm, no_root, request, traffic,
                        [&] { return PMPI_Ireduce_scatter_block(send, receive, count, type, op, comm, request); });
}

}  // extern "C"
