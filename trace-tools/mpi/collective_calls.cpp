// SPDX-License-Identifier: Apache-2.0
// Records MPI's blocking collectives, as record_mpi.hpp describes.
#include "trace-tools/mpi/collective_call.hpp"

using namespace otf2;

extern "C" {

int MPI_Barrier(MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Barrier", RegionRole::barrier};
    return blocking(function, Operation::barrier, comm, no_root, no_traffic, [&] { return PMPI_Barrier(comm); });
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Bcast", RegionRole::one_to_all};
    return blocking(
        function, Operation::broadcast, comm, rank(root), [&] { return broadcast(count, type, root, comm); },
        [&] { return PMPI_Bcast(buffer, count, type, root, comm); });
}

int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Reduce", RegionRole::all_to_one};
    return blocking(
        function, Operation::reduce, comm, rank(root), [&] { return reduction_to_root(count, type, root, comm); },
        [&] { return PMPI_Reduce(send, receive, count, type, op, root, comm); });
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Allreduce", RegionRole::all_to_all};
    return blocking(
        function, Operation::allreduce, comm, no_root, [&] { return reduction(count, type); },
        [&] { return PMPI_Allreduce(send, receive, count, type, op, comm); });
}

int MPI_Gather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
               MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Gather", RegionRole::all_to_one};
    return blocking(
        function, Operation::gather, comm, rank(root),
        [&] { return gather(send, send_count, send_type, receive_count, receive_type, root, comm); },
        [&] { return PMPI_Gather(send, send_count, send_type, receive, receive_count, receive_type, root, comm); });
}

int MPI_Gatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int receive_counts[],
                const int places[], MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Gatherv", RegionRole::all_to_one};
    return blocking(
        function, Operation::gatherv, comm, rank(root),
        [&] { return gatherv(send, send_count, send_type, receive_counts, receive_type, root, comm); },
        [&] {
            return PMPI_Gatherv(send, send_count, send_type, receive, receive_counts, places, receive_type, root, comm);
        });
}

int MPI_Scatter(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Scatter", RegionRole::one_to_all};
    return blocking(
        function, Operation::scatter, comm, rank(root),
        [&] { return scatter(send_count, send_type, receive, receive_count, receive_type, root, comm); },
        [&] { return PMPI_Scatter(send, send_count, send_type, receive, receive_count, receive_type, root, comm); });
}

int MPI_Scatterv(const void* send, const int send_counts[], const int places[], MPI_Datatype send_type, void* receive,
                 int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Scatterv", RegionRole::one_to_all};
    return blocking(
        function, Operation::scatterv, comm, rank(root),
        [&] { return scatterv(send_counts, send_type, receive, receive_count, receive_type, root, comm); },
        [&] {
            return PMPI_Scatterv(send, send_counts, places, send_type, receive, receive_count, receive_type, root,
                                 comm);
        });
}

int MPI_Allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Allgather", RegionRole::all_to_all};
    return blocking(
        function, Operation::allgather, comm, no_root,
        [&] { return allgather(send, send_count, send_type, receive_count, receive_type, comm); },
        [&] { return PMPI_Allgather(send, send_count, send_type, receive, receive_count, receive_type, comm); });
}

int MPI_Allgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int receive_counts[],
                   const int places[], MPI_Datatype receive_type, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Allgatherv", RegionRole::all_to_all};
    return blocking(
        function, Operation::allgatherv, comm, no_root,
        [&] { return allgatherv(send, send_count, send_type, receive_counts, receive_type, comm); },
        [&] {
            return PMPI_Allgatherv(send, send_count, send_type, receive, receive_counts, places, receive_type, comm);
        });
}

int MPI_Alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                 MPI_Datatype receive_type, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Alltoall", RegionRole::all_to_all};
    return blocking(
        function, Operation::alltoall, comm, no_root,
        [&] { return alltoall(send, send_count, send_type, receive_count, receive_type, comm); },
        [&] { return PMPI_Alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm); });
}

int MPI_Alltoallv(const void* send, const int send_counts[], const int send_places[], MPI_Datatype send_type,
                  void* receive, const int receive_counts[], const int receive_places[], MPI_Datatype receive_type,
                  MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Alltoallv", RegionRole::all_to_all};
    return blocking(
        function, Operation::alltoallv, comm, no_root,
        [&] { return alltoallv(send, send_counts, send_type, receive_counts, receive_type, comm); },
        [&] {
            return PMPI_Alltoallv(send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
                                  receive_type, comm);
        });
}

int MPI_Alltoallw(const void* send, const int send_counts[], const int send_places[], const MPI_Datatype send_types[],
                  void* receive, const int receive_counts[], const int receive_places[],
                  const MPI_Datatype receive_types[], MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Alltoallw", RegionRole::all_to_all};
    return blocking(
        function, Operation::alltoallw, comm, no_root,
        [&] { return alltoallw(send, send_counts, send_types, receive_counts, receive_types, comm); },
        [&] {
            return PMPI_Alltoallw(send, send_counts, send_places, send_types, receive, receive_counts, receive_places,
                                  receive_types, comm);
        });
}

int MPI_Reduce_scatter(const void* send, void* receive, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Reduce_scatter", RegionRole::all_to_all};
    return blocking(
        function, Operation::reduce_scatter, comm, no_root, [&] { return reduce_scatter(counts, type, comm); },
        [&] { return PMPI_Reduce_scatter(send, receive, counts, type, op, comm); });
}

int MPI_Reduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Reduce_scatter_block", RegionRole::all_to_all};
    return blocking(
        function, Operation::reduce_scatter_block, comm, no_root,
        [&] { return reduce_scatter_block(count, type, comm); },
        [&] { return PMPI_Reduce_scatter_block(send, receive, count, type, op, comm); });
}

int MPI_Scan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Scan", RegionRole::collective_other};
    return blocking(
        function, Operation::scan, comm, no_root, [&] { return reduction(count, type); },
        [&] { return PMPI_Scan(send, receive, count, type, op, comm); });
}

int MPI_Exscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Exscan", RegionRole::collective_other};
    return blocking(
        function, Operation::exscan, comm, no_root, [&] { return exclusive_scan(count, type, comm); },
        [&] { return PMPI_Exscan(send, receive, count, type, op, comm); });
}

}  // extern "C"
