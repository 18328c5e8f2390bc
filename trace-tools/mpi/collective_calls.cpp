// SPDX-License-Identifier: Apache-2.0
// Records MPI's collectives, blocking and not, as record_mpi.hpp describes.
#include "trace-tools/mpi/collective_call.hpp"

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

COLLECTIVE(MPI_Barrier, MPI_Ibarrier, barrier, barrier, no_root, no_traffic(), (MPI_Comm comm), (comm))
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
