// SPDX-License-Identifier: Apache-2.0
// Records MPI's non-blocking collectives, as record_mpi.hpp describes.
#include "trace-tools/mpi/collective_call.hpp"

using namespace otf2;

extern "C" {

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ibarrier", RegionRole::barrier};
    return non_blocking(function, Operation::barrier, comm, no_root, request, no_traffic,
                        [&] { return PMPI_Ibarrier(comm, request); });
}

int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ibcast", RegionRole::one_to_all};
    return non_blocking(
        function, Operation::broadcast, comm, rank(root), request, [&] { return broadcast(count, type, root, comm); },
        [&] { return PMPI_Ibcast(buffer, count, type, root, comm, request); });
}

int MPI_Ireduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ireduce", RegionRole::all_to_one};
    return non_blocking(
        function, Operation::reduce, comm, rank(root), request,
        [&] { return reduction_to_root(count, type, root, comm); },
        [&] { return PMPI_Ireduce(send, receive, count, type, op, root, comm, request); });
}

int MPI_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request)
{
    static const MpiFunction function{"MPI_Iallreduce", RegionRole::all_to_all};
    return non_blocking(
        function, Operation::allreduce, comm, no_root, request, [&] { return reduction(count, type); },
        [&] { return PMPI_Iallreduce(send, receive, count, type, op, comm, request); });
}

int MPI_Igather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Igather", RegionRole::all_to_one};
    return non_blocking(
        function, Operation::gather, comm, rank(root), request,
        [&] { return gather(send, send_count, send_type, receive_count, receive_type, root, comm); },
        [&] {
            return PMPI_Igather(send, send_count, send_type, receive, receive_count, receive_type, root, comm, request);
        });
}

int MPI_Igatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int receive_counts[],
                 const int places[], MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Igatherv", RegionRole::all_to_one};
    return non_blocking(
        function, Operation::gatherv, comm, rank(root), request,
        [&] { return gatherv(send, send_count, send_type, receive_counts, receive_type, root, comm); },
        [&] {
            return PMPI_Igatherv(send, send_count, send_type, receive, receive_counts, places, receive_type, root, comm,
                                 request);
        });
}

int MPI_Iscatter(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                 MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Iscatter", RegionRole::one_to_all};
    return non_blocking(
        function, Operation::scatter, comm, rank(root), request,
        [&] { return scatter(send_count, send_type, receive, receive_count, receive_type, root, comm); },
        [&] {
            return PMPI_Iscatter(send, send_count, send_type, receive, receive_count, receive_type, root, comm,
                                 request);
        });
}

int MPI_Iscatterv(const void* send, const int send_counts[], const int places[], MPI_Datatype send_type, void* receive,
                  int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Iscatterv", RegionRole::one_to_all};
    return non_blocking(
        function, Operation::scatterv, comm, rank(root), request,
        [&] { return scatterv(send_counts, send_type, receive, receive_count, receive_type, root, comm); },
        [&] {
            return PMPI_Iscatterv(send, send_counts, places, send_type, receive, receive_count, receive_type, root,
                                  comm, request);
        });
}

int MPI_Iallgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                   MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Iallgather", RegionRole::all_to_all};
    return non_blocking(
        function, Operation::allgather, comm, no_root, request,
        [&] { return allgather(send, send_count, send_type, receive_count, receive_type, comm); },
        [&] {
            return PMPI_Iallgather(send, send_count, send_type, receive, receive_count, receive_type, comm, request);
        });
}

int MPI_Iallgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int receive_counts[],
                    const int places[], MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Iallgatherv", RegionRole::all_to_all};
    return non_blocking(
        function, Operation::allgatherv, comm, no_root, request,
        [&] { return allgatherv(send, send_count, send_type, receive_counts, receive_type, comm); },
        [&] {
            return PMPI_Iallgatherv(send, send_count, send_type, receive, receive_counts, places, receive_type, comm,
                                    request);
        });
}

int MPI_Ialltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ialltoall", RegionRole::all_to_all};
    return non_blocking(
        function, Operation::alltoall, comm, no_root, request,
        [&] { return alltoall(send, send_count, send_type, receive_count, receive_type, comm); },
        [&] {
            return PMPI_Ialltoall(send, send_count, send_type, receive, receive_count, receive_type, comm, request);
        });
}

int MPI_Ialltoallv(const void* send, const int send_counts[], const int send_places[], MPI_Datatype send_type,
                   void* receive, const int receive_counts[], const int receive_places[], MPI_Datatype receive_type,
                   MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ialltoallv", RegionRole::all_to_all};
    return non_blocking(
        function, Operation::alltoallv, comm, no_root, request,
        [&] { return alltoallv(send, send_counts, send_type, receive_counts, receive_type, comm); },
        [&] {
            return PMPI_Ialltoallv(send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
                                   receive_type, comm, request);
        });
}

int MPI_Ialltoallw(const void* send, const int send_counts[], const int send_places[], const MPI_Datatype send_types[],
                   void* receive, const int receive_counts[], const int receive_places[],
                   const MPI_Datatype receive_types[], MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ialltoallw", RegionRole::all_to_all};
    return non_blocking(
        function, Operation::alltoallw, comm, no_root, request,
        [&] { return alltoallw(send, send_counts, send_types, receive_counts, receive_types, comm); },
        [&] {
            return PMPI_Ialltoallw(send, send_counts, send_places, send_types, receive, receive_counts, receive_places,
                                   receive_types, comm, request);
        });
}

int MPI_Ireduce_scatter(const void* send, void* receive, const int counts[], MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ireduce_scatter", RegionRole::all_to_all};
    return non_blocking(
        function, Operation::reduce_scatter, comm, no_root, request, [&] { return reduce_scatter(counts, type, comm); },
        [&] { return PMPI_Ireduce_scatter(send, receive, counts, type, op, comm, request); });
}

int MPI_Ireduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                              MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ireduce_scatter_block", RegionRole::all_to_all};
    return non_blocking(
        function, Operation::reduce_scatter_block, comm, no_root, request,
        [&] { return reduce_scatter_block(count, type, comm); },
        [&] { return PMPI_Ireduce_scatter_block(send, receive, count, type, op, comm, request); });
}

int MPI_Iscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              MPI_Request* request)
{
    static const MpiFunction function{"MPI_Iscan", RegionRole::collective_other};
    return non_blocking(
        function, Operation::scan, comm, no_root, request, [&] { return reduction(count, type); },
        [&] { return PMPI_Iscan(send, receive, count, type, op, comm, request); });
}

int MPI_Iexscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request* request)
{
    static const MpiFunction function{"MPI_Iexscan", RegionRole::collective_other};
    return non_blocking(
        function, Operation::exscan, comm, no_root, request, [&] { return exclusive_scan(count, type, comm); },
        [&] { return PMPI_Iexscan(send, receive, count, type, op, comm, request); });
}

}  // extern "C"
