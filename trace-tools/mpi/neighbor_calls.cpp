// SPDX-License-Identifier: Apache-2.0
// Records MPI's neighbourhood collectives with their time only, because OTF2 cannot represent them.
#include "trace-tools/mpi/recorded_call.hpp"

using namespace otf2;

extern "C" {

int MPI_Neighbor_allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                           MPI_Datatype receive_type, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Neighbor_allgather", RegionRole::collective_other};
    return time_only(function, [&] {
        return PMPI_Neighbor_allgather(send, send_count, send_type, receive, receive_count, receive_type, comm);
    });
}

int MPI_Neighbor_allgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                            const int receive_counts[], const int places[], MPI_Datatype receive_type, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Neighbor_allgatherv", RegionRole::collective_other};
    return time_only(function, [&] {
        return PMPI_Neighbor_allgatherv(send, send_count, send_type, receive, receive_counts, places, receive_type,
                                        comm);
    });
}

int MPI_Neighbor_alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                          MPI_Datatype receive_type, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Neighbor_alltoall", RegionRole::collective_other};
    return time_only(function, [&] {
        return PMPI_Neighbor_alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm);
    });
}

int MPI_Neighbor_alltoallv(const void* send, const int send_counts[], const int send_places[], MPI_Datatype send_type,
                           void* receive, const int receive_counts[], const int receive_places[],
                           MPI_Datatype receive_type, MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Neighbor_alltoallv", RegionRole::collective_other};
    return time_only(function, [&] {
        return PMPI_Neighbor_alltoallv(send, send_counts, send_places, send_type, receive, receive_counts,
                                       receive_places, receive_type, comm);
    });
}

int MPI_Neighbor_alltoallw(const void* send, const int send_counts[], const MPI_Aint send_places[],
                           const MPI_Datatype send_types[], void* receive, const int receive_counts[],
                           const MPI_Aint receive_places[], const MPI_Datatype receive_types[], MPI_Comm comm)
{
    static const MpiFunction function{"MPI_Neighbor_alltoallw", RegionRole::collective_other};
    return time_only(function, [&] {
        return PMPI_Neighbor_alltoallw(send, send_counts, send_places, send_types, receive, receive_counts,
                                       receive_places, receive_types, comm);
    });
}

int MPI_Ineighbor_allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                            MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ineighbor_allgather", RegionRole::collective_other};
    return time_only(function, [&] {
        return PMPI_Ineighbor_allgather(send, send_count, send_type, receive, receive_count, receive_type, comm,
                                        request);
    });
}

int MPI_Ineighbor_allgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                             const int receive_counts[], const int places[], MPI_Datatype receive_type, MPI_Comm comm,
                             MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ineighbor_allgatherv", RegionRole::collective_other};
    return time_only(function, [&] {
        return PMPI_Ineighbor_allgatherv(send, send_count, send_type, receive, receive_counts, places, receive_type,
                                         comm, request);
    });
}

int MPI_Ineighbor_alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                           MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ineighbor_alltoall", RegionRole::collective_other};
    return time_only(function, [&] {
        return PMPI_Ineighbor_alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm,
                                       request);
    });
}

int MPI_Ineighbor_alltoallv(const void* send, const int send_counts[], const int send_places[], MPI_Datatype send_type,
                            void* receive, const int receive_counts[], const int receive_places[],
                            MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ineighbor_alltoallv", RegionRole::collective_other};
    return time_only(function, [&] {
        return PMPI_Ineighbor_alltoallv(send, send_counts, send_places, send_type, receive, receive_counts,
                                        receive_places, receive_type, comm, request);
    });
}

int MPI_Ineighbor_alltoallw(const void* send, const int send_counts[], const MPI_Aint send_places[],
                            const MPI_Datatype send_types[], void* receive, const int receive_counts[],
                            const MPI_Aint receive_places[], const MPI_Datatype receive_types[], MPI_Comm comm,
                            MPI_Request* request)
{
    static const MpiFunction function{"MPI_Ineighbor_alltoallw", RegionRole::collective_other};
    return time_only(function, [&] {
        return PMPI_Ineighbor_alltoallw(send, send_counts, send_places, send_types, receive, receive_counts,
                                        receive_places, receive_types, comm, request);
    });
}

}  // extern "C"
