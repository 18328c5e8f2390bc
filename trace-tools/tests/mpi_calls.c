// SPDX-License-Identifier: Apache-2.0
// Every MPI function that libcrosstalk-mpi.so records, called between two ranks.
#include "mpi_calls.h"

static void messages(void)
{
    const int other = 1 - rank;
    char out[64] = {0};
    char in[64];
    char room[4096];
    void* detached = NULL;
    int flag = 0;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    MPI_Request all[4];

    if (rank == 0) {
        DO(MPI_Send, out, 10, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        MPI_Buffer_attach(room, sizeof room);
        DO(MPI_Barrier, MPI_COMM_WORLD);
        DO(MPI_Ssend, out, 11, MPI_BYTE, other, 2, MPI_COMM_WORLD);
        DO(MPI_Bsend, out, 12, MPI_BYTE, other, 3, MPI_COMM_WORLD);
        DO(MPI_Rsend, out, 13, MPI_BYTE, other, 4, MPI_COMM_WORLD);
        DO(MPI_Isend, out, 14, MPI_BYTE, other, 5, MPI_COMM_WORLD, &all[0]);
        DO(MPI_Issend, out, 15, MPI_BYTE, other, 6, MPI_COMM_WORLD, &all[1]);
        DO(MPI_Ibsend, out, 16, MPI_BYTE, other, 7, MPI_COMM_WORLD, &all[2]);
        DO(MPI_Irsend, out, 17, MPI_BYTE, other, 8, MPI_COMM_WORLD, &all[3]);
        DO(MPI_Waitall, 4, all, MPI_STATUSES_IGNORE);
        DO(MPI_Recv, in, 64, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        DO(MPI_Send, out, 1, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
        DO(MPI_Probe, other, 21, MPI_COMM_WORLD, &status);
        DO(MPI_Recv, in, 64, MPI_BYTE, other, 21, MPI_COMM_WORLD, &status);
        while (!flag) MPI_Iprobe(other, 22, MPI_COMM_WORLD, &flag, &status);
        count("MPI_Iprobe");
        DO(MPI_Mprobe, other, 22, MPI_COMM_WORLD, &message, &status);
        DO(MPI_Mrecv, in, 64, MPI_BYTE, &message, &status);
        for (flag = 0; !flag;) MPI_Improbe(other, 23, MPI_COMM_WORLD, &flag, &message, &status);
        count("MPI_Improbe");
        DO(MPI_Imrecv, in, 64, MPI_BYTE, &message, &request);
        DO(MPI_Wait, &request, MPI_STATUS_IGNORE);
        MPI_Buffer_detach(&detached, &flag);
    } else {
        DO(MPI_Irecv, in, 13, MPI_BYTE, other, 4, MPI_COMM_WORLD, &all[0]);
        DO(MPI_Irecv, in + 13, 17, MPI_BYTE, other, 8, MPI_COMM_WORLD, &all[1]);
        DO(MPI_Barrier, MPI_COMM_WORLD);
        for (int tag = 1; tag <= 7; ++tag)
            if (tag != 4) DO(MPI_Recv, room, 64, MPI_BYTE, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        DO(MPI_Waitall, 2, all, MPI_STATUSES_IGNORE);
        for (int tag = 20; tag <= 23; ++tag) DO(MPI_Send, out, tag, MPI_BYTE, other, tag, MPI_COMM_WORLD);
    }
    DO(MPI_Sendrecv, out, 30, MPI_BYTE, other, 30, in, 64, MPI_BYTE, other, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    DO(MPI_Sendrecv_replace, out, 31, MPI_BYTE, other, 31, other, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    // Nothing is sent with tag 99: the receive can be cancelled.
    DO(MPI_Irecv, in, 64, MPI_BYTE, other, 99, MPI_COMM_WORLD, &request);
    DO(MPI_Cancel, &request);
    DO(MPI_Wait, &request, &status);
    DO(MPI_Irecv, in, 1, MPI_BYTE, other, 32, MPI_COMM_WORLD, &request);
    DO(MPI_Request_free, &request);
    DO(MPI_Send, out, 1, MPI_BYTE, other, 32, MPI_COMM_WORLD);
    DO(MPI_Barrier, MPI_COMM_WORLD);
}

static void persistent_requests(void)
{
    const int other = 1 - rank;
    char out[4] = {0};
    char in[64];
    MPI_Request all[4];
    MPI_Request receives[4];
    DO(MPI_Send_init, out, 1, MPI_BYTE, other, 41, MPI_COMM_WORLD, &all[0]);
    DO(MPI_Ssend_init, out, 2, MPI_BYTE, other, 42, MPI_COMM_WORLD, &all[1]);
    DO(MPI_Bsend_init, out, 3, MPI_BYTE, other, 43, MPI_COMM_WORLD, &all[2]);
    DO(MPI_Rsend_init, out, 4, MPI_BYTE, other, 44, MPI_COMM_WORLD, &all[3]);
    for (int i = 0; i < 4; ++i) {
        DO(MPI_Recv_init, in + 16 * i, 16, MPI_BYTE, other, 41 + i, MPI_COMM_WORLD, &receives[i]);
        DO(MPI_Start, &receives[i]);
    }
    DO(MPI_Barrier, MPI_COMM_WORLD);
    char room[4096];
    MPI_Buffer_attach(room, sizeof room);
    DO(MPI_Startall, 4, all);
    DO(MPI_Waitall, 4, all, MPI_STATUSES_IGNORE);
    DO(MPI_Waitall, 4, receives, MPI_STATUSES_IGNORE);
    DO(MPI_Startall, 1, receives);
    DO(MPI_Start, &all[0]);
    DO(MPI_Wait, &all[0], MPI_STATUS_IGNORE);
    DO(MPI_Wait, &receives[0], MPI_STATUS_IGNORE);
    void* detached = NULL;
    int size = 0;
    MPI_Buffer_detach(&detached, &size);
    for (int i = 0; i < 4; ++i) {
        DO(MPI_Request_free, &all[i]);
        DO(MPI_Request_free, &receives[i]);
    }
}

static void completions(void)
{
    MPI_Request all[2];
    int index = 0;
    int done = 0;
    int indices[2];
    int flag = 0;
    DO(MPI_Ibarrier, MPI_COMM_WORLD, &all[0]);
    DO(MPI_Waitany, 1, all, &index, MPI_STATUS_IGNORE);
    DO(MPI_Ibarrier, MPI_COMM_WORLD, &all[0]);
    DO(MPI_Waitsome, 1, all, &done, indices, MPI_STATUSES_IGNORE);
    DO(MPI_Ibarrier, MPI_COMM_WORLD, &all[0]);
    for (flag = 0; !flag;) MPI_Test(&all[0], &flag, MPI_STATUS_IGNORE);
    count("MPI_Test");
    DO(MPI_Ibarrier, MPI_COMM_WORLD, &all[0]);
    for (flag = 0; !flag;) MPI_Testall(1, all, &flag, MPI_STATUSES_IGNORE);
    count("MPI_Testall");
    DO(MPI_Ibarrier, MPI_COMM_WORLD, &all[0]);
    for (flag = 0; !flag;) MPI_Testany(1, all, &index, &flag, MPI_STATUS_IGNORE);
    count("MPI_Testany");
    DO(MPI_Ibarrier, MPI_COMM_WORLD, &all[0]);
    for (done = 0; done != 1;) MPI_Testsome(1, all, &done, indices, MPI_STATUSES_IGNORE);
    count("MPI_Testsome");
}

static void collectives(void)
{
    int in[16] = {0};
    int out[16] = {0};
    const int one[2] = {1, 1};
    const int lengths[2] = {1, 2};
    const int mine = 1 + rank;
    const int from_each[2] = {mine, mine};
    const int places[2] = {0, 4};
    const int byte_places[2] = {0, 16};
    const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Request all[17];
    MPI_Comm world = MPI_COMM_WORLD;

    DO(MPI_Bcast, in, 3, MPI_INT, 1, world);
    DO(MPI_Reduce, out, in, 3, MPI_INT, MPI_SUM, 0, world);
    DO(MPI_Allreduce, out, in, 3, MPI_INT, MPI_SUM, world);
    DO(MPI_Gather, out, 2, MPI_INT, in, 2, MPI_INT, 0, world);
    DO(MPI_Gatherv, out, mine, MPI_INT, in, lengths, places, MPI_INT, 0, world);
    DO(MPI_Scatter, out, 2, MPI_INT, in, 2, MPI_INT, 0, world);
    DO(MPI_Scatterv, out, lengths, places, MPI_INT, in, mine, MPI_INT, 0, world);
    DO(MPI_Allgather, out, 2, MPI_INT, in, 2, MPI_INT, world);
    DO(MPI_Allgatherv, out, mine, MPI_INT, in, lengths, places, MPI_INT, world);
    DO(MPI_Alltoall, out, 2, MPI_INT, in, 2, MPI_INT, world);
    DO(MPI_Alltoallv, out, lengths, places, MPI_INT, in, from_each, places, MPI_INT, world);
    DO(MPI_Alltoallw, out, lengths, byte_places, types, in, from_each, byte_places, types, world);
    DO(MPI_Reduce_scatter, out, in, lengths, MPI_INT, MPI_SUM, world);
    DO(MPI_Reduce_scatter_block, out, in, 2, MPI_INT, MPI_SUM, world);
    DO(MPI_Scan, out, in, 2, MPI_INT, MPI_SUM, world);
    DO(MPI_Exscan, out, in, 2, MPI_INT, MPI_SUM, world);

    int a[17][16] = {{0}};
    DO(MPI_Ibcast, a[0], 3, MPI_INT, 1, world, &all[0]);
    DO(MPI_Ireduce, out, a[1], 3, MPI_INT, MPI_SUM, 0, world, &all[1]);
    DO(MPI_Iallreduce, out, a[2], 3, MPI_INT, MPI_SUM, world, &all[2]);
    DO(MPI_Igather, out, 2, MPI_INT, a[3], 2, MPI_INT, 0, world, &all[3]);
    DO(MPI_Igatherv, out, mine, MPI_INT, a[4], lengths, places, MPI_INT, 0, world, &all[4]);
    DO(MPI_Iscatter, out, 2, MPI_INT, a[5], 2, MPI_INT, 0, world, &all[5]);
    DO(MPI_Iscatterv, out, lengths, places, MPI_INT, a[6], mine, MPI_INT, 0, world, &all[6]);
    DO(MPI_Iallgather, out, 2, MPI_INT, a[7], 2, MPI_INT, world, &all[7]);
    DO(MPI_Iallgatherv, out, mine, MPI_INT, a[8], lengths, places, MPI_INT, world, &all[8]);
    DO(MPI_Ialltoall, out, 2, MPI_INT, a[9], 2, MPI_INT, world, &all[9]);
    DO(MPI_Ialltoallv, out, lengths, places, MPI_INT, a[10], from_each, places, MPI_INT, world, &all[10]);
    DO(MPI_Ialltoallw, out, lengths, byte_places, types, a[11], from_each, byte_places, types, world, &all[11]);
    DO(MPI_Ireduce_scatter, out, a[12], lengths, MPI_INT, MPI_SUM, world, &all[12]);
    DO(MPI_Ireduce_scatter_block, out, a[13], 2, MPI_INT, MPI_SUM, world, &all[13]);
    DO(MPI_Iscan, out, a[14], 2, MPI_INT, MPI_SUM, world, &all[14]);
    DO(MPI_Iexscan, out, a[15], 2, MPI_INT, MPI_SUM, world, &all[15]);
    DO(MPI_Ibarrier, world, &all[16]);
    DO(MPI_Waitall, 17, all, MPI_STATUSES_IGNORE);

    // Neighbourhood collectives on a ring of two ranks.
    const int sizes[1] = {2};
    const int periods[1] = {1};
    const MPI_Aint far_places[2] = {0, 16};
    MPI_Comm ring;
    DO(MPI_Cart_create, world, 1, sizes, periods, 0, &ring);
    DO(MPI_Neighbor_allgather, out, 1, MPI_INT, in, 1, MPI_INT, ring);
    DO(MPI_Neighbor_allgatherv, out, 1, MPI_INT, in, one, places, MPI_INT, ring);
    DO(MPI_Neighbor_alltoall, out, 1, MPI_INT, in, 1, MPI_INT, ring);
    DO(MPI_Neighbor_alltoallv, out, one, places, MPI_INT, in, one, places, MPI_INT, ring);
    DO(MPI_Neighbor_alltoallw, out, one, far_places, types, in, one, far_places, types, ring);
    DO(MPI_Ineighbor_allgather, out, 1, MPI_INT, a[0], 1, MPI_INT, ring, &all[0]);
    DO(MPI_Ineighbor_allgatherv, out, 1, MPI_INT, a[1], one, places, MPI_INT, ring, &all[1]);
    DO(MPI_Ineighbor_alltoall, out, 1, MPI_INT, a[2], 1, MPI_INT, ring, &all[2]);
    DO(MPI_Ineighbor_alltoallv, out, one, places, MPI_INT, a[3], one, places, MPI_INT, ring, &all[3]);
    DO(MPI_Ineighbor_alltoallw, out, one, far_places, types, a[4], one, far_places, types, ring, &all[4]);
    DO(MPI_Waitall, 5, all, MPI_STATUSES_IGNORE);
    DO(MPI_Comm_free, &ring);
}

// The barrier shows whether the recording knows the communicator.
void use_and_free(MPI_Comm made)
{
    DO(MPI_Barrier, made);
    DO(MPI_Comm_free, &made);
}

static void all_communicators(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Comm made;
    MPI_Comm alone;
    MPI_Comm ring;
    MPI_Group group;
    MPI_Request request;
    const int sizes[1] = {2};
    const int periods[1] = {1};
    const int keep[1] = {1};
    const int edges_end[2] = {1, 2};
    const int other[1] = {1 - rank};
    const int both[2] = {1, 0};
    const int me[1] = {rank};
    const int one[1] = {1};
    MPI_Comm_group(world, &group);

    DO(MPI_Comm_dup, world, &made);
    use_and_free(made);
    DO(MPI_Comm_dup_with_info, world, MPI_INFO_NULL, &made);
    use_and_free(made);
    DO(MPI_Comm_idup, world, &made, &request);
    DO(MPI_Wait, &request, MPI_STATUS_IGNORE);
    use_and_free(made);
    DO(MPI_Comm_split_type, world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    use_and_free(made);
    DO(MPI_Comm_create, world, group, &made);
    use_and_free(made);
    DO(MPI_Comm_create_group, world, group, 5, &made);
    use_and_free(made);
    DO(MPI_Cart_create, world, 1, sizes, periods, 0, &ring);
    DO(MPI_Cart_sub, ring, keep, &made);
    use_and_free(made);
    use_and_free(ring);
    DO(MPI_Graph_create, world, 2, edges_end, both, 0, &made);
    use_and_free(made);
    DO(MPI_Dist_graph_create, world, 1, me, one, other, one, MPI_INFO_NULL, 0, &made);
    use_and_free(made);
    DO(MPI_Dist_graph_create_adjacent, world, 1, other, one, 1, other, one, MPI_INFO_NULL, 0, &made);
    use_and_free(made);
    DO(MPI_Comm_split, world, rank, 0, &alone);
    DO(MPI_Intercomm_create, alone, 0, world, 1 - rank, 6, &made);
    DO(MPI_Barrier, made);  // intercommunicator: only the time is recorded
    MPI_Comm merged;
    DO(MPI_Intercomm_merge, made, rank, &merged);
    use_and_free(merged);
    DO(MPI_Comm_free, &made);
    use_and_free(alone);
    DO(MPI_Barrier, MPI_COMM_SELF);
    MPI_Group_free(&group);
}

void call_everything(void)
{
    messages();
    persistent_requests();
    completions();
    collectives();
    all_communicators();
}

// Calls that MPI refuses, and messages longer than the receive buffer.
void failures(void)
{
    const int other = 1 - rank;
    char out[64] = {0};
    char in[64];
    char more[64];
    int flag = 0;
    int index = 0;
    int done = 0;
    int indices[2];
    MPI_Request all[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    DO(MPI_Send, out, 1, MPI_BYTE, other, -5, MPI_COMM_WORLD);
    DO(MPI_Isend, out, 1, MPI_BYTE, 77, 1, MPI_COMM_WORLD, all);
    DO(MPI_Irecv, in, -1, MPI_BYTE, other, 1, MPI_COMM_WORLD, all);
    DO(MPI_Send_init, out, 1, MPI_BYTE, 77, 1, MPI_COMM_WORLD, all);
    DO(MPI_Recv_init, in, 1, MPI_BYTE, 77, 1, MPI_COMM_WORLD, all);
    DO(MPI_Sendrecv, out, 1, MPI_BYTE, other, -5, in, 1, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    DO(MPI_Allreduce, out, in, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    DO(MPI_Iallreduce, out, in, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD, all);
    DO(MPI_Comm_split, MPI_COMM_WORLD, -7, 0, NULL);

    // Each rank sends two messages of 10 bytes; the second one is too long for its receive.
    for (int tag = 1; tag <= 8; ++tag) {
        DO(MPI_Irecv, in, 64, MPI_BYTE, other, tag, MPI_COMM_WORLD, &all[0]);
        DO(MPI_Irecv, more, 1, MPI_BYTE, other, tag, MPI_COMM_WORLD, &all[1]);
        DO(MPI_Barrier, MPI_COMM_WORLD);
        DO(MPI_Send, out, 10, MPI_BYTE, other, tag, MPI_COMM_WORLD);
        DO(MPI_Send, out, 10, MPI_BYTE, other, tag, MPI_COMM_WORLD);
        DO(MPI_Barrier, MPI_COMM_WORLD);
        flag = 0;
        done = 0;
        if (tag == 1) DO(MPI_Waitall, 2, all, MPI_STATUSES_IGNORE);
        if (tag == 2) DO(MPI_Waitsome, 2, all, &done, indices, MPI_STATUSES_IGNORE);
        if (tag == 3) DO(MPI_Wait, &all[1], MPI_STATUS_IGNORE);
        if (tag == 4) DO(MPI_Waitany, 1, &all[1], &index, MPI_STATUS_IGNORE);
        if (tag == 5) DO(MPI_Testall, 2, all, &flag, MPI_STATUSES_IGNORE);
        if (tag == 6) DO(MPI_Testsome, 2, all, &done, indices, MPI_STATUSES_IGNORE);
        if (tag == 7) DO(MPI_Test, &all[1], &flag, MPI_STATUS_IGNORE);
        if (tag == 8) DO(MPI_Testany, 1, &all[1], &index, &flag, MPI_STATUS_IGNORE);
        for (int i = 0; i < 2; ++i)
            if (all[i] != MPI_REQUEST_NULL) DO(MPI_Wait, &all[i], MPI_STATUS_IGNORE);
    }
    // Request handles of failed operations can be reused.
    DO(MPI_Ibarrier, MPI_COMM_WORLD, &all[0]);
    DO(MPI_Irecv, in, 64, MPI_BYTE, other, 9, MPI_COMM_WORLD, &all[1]);
    DO(MPI_Send, out, 10, MPI_BYTE, other, 9, MPI_COMM_WORLD);
    DO(MPI_Waitall, 2, all, MPI_STATUSES_IGNORE);
}
