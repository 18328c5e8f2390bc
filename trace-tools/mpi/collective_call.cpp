// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/mpi/collective_call.hpp"

namespace otf2 {

namespace {

// Returns the bytes of one rank's block. With MPI_IN_PLACE, the arguments of the other buffer apply.
std::uint64_t block(const void* buffer, int count, MPI_Datatype type, int other_count, MPI_Datatype other_type)
{
    return buffer == MPI_IN_PLACE ? bytes_of(other_count, other_type) : bytes_of(count, type);
}

std::uint64_t times_size(std::uint64_t bytes, MPI_Comm communicator)
{
    return bytes * static_cast<std::uint64_t>(size_of(communicator));
}

}  // namespace

Traffic no_traffic()
{
    return {};
}

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

}  // namespace otf2
