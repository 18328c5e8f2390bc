// SPDX-License-Identifier: Apache-2.0
// Records the MPI calls that make and free communicators, and gives new communicators an id on which all their ranks
// agree.
#include "trace-tools/mpi/recorded_call.hpp"
#include "trace-tools/mpi/requests.hpp"

namespace otf2 {

namespace {

// Identifies the new communicator even if the call is not recorded: identify() is collective over it.
template <class Call>
int making(const MpiFunction& function, MPI_Comm* made, const Call& call)
{
    std::optional<RecordedCall> recorded;
    if (LocationRecorder* location = recording_location()) recorded.emplace(*location, function);
    const int code = call();
    if (code == MPI_SUCCESS) identify(*made);
    return code;
}

}  // namespace

}  // namespace otf2

using namespace otf2;

extern "C" {

#define MAKING(NAME, PARAMETERS, ARGUMENTS) \
    CROSSTALK_MPI_CALL(NAME, collective_other, PARAMETERS, ARGUMENTS, making, made)
#define TIME_ONLY(NAME, PARAMETERS, ARGUMENTS) \
    CROSSTALK_MPI_CALL(NAME, collective_other, PARAMETERS, ARGUMENTS, time_only)

MAKING(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
MAKING(MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* made), (comm, info, made))
MAKING(MPI_Comm_split, (MPI_Comm comm, int colour, int key, MPI_Comm* made), (comm, colour, key, made))
MAKING(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
       (comm, type, key, info, made))
MAKING(MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made), (comm, group, made))
MAKING(MPI_Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made), (comm, group, tag, made))
MAKING(MPI_Cart_create,
       (MPI_Comm comm, int dimensions, const int sizes[], const int periods[], int reorder, MPI_Comm* made),
       (comm, dimensions, sizes, periods, reorder, made))
MAKING(MPI_Cart_sub, (MPI_Comm comm, const int kept[], MPI_Comm* made), (comm, kept, made))
MAKING(MPI_Graph_create, (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm* made),
       (comm, nodes, index, edges, reorder, made))
MAKING(MPI_Dist_graph_create,
       (MPI_Comm comm, int nodes, const int sources[], const int degrees[], const int targets[], const int weights[],
        MPI_Info info, int reorder, MPI_Comm* made),
       (comm, nodes, sources, degrees, targets, weights, info, reorder, made))
MAKING(MPI_Dist_graph_create_adjacent,
       (MPI_Comm comm, int in_degree, const int sources[], const int source_weights[], int out_degree,
        const int targets[], const int target_weights[], MPI_Info info, int reorder, MPI_Comm* made),
       (comm, in_degree, sources, source_weights, out_degree, targets, target_weights, info, reorder, made))
MAKING(MPI_Intercomm_merge, (MPI_Comm between, int high, MPI_Comm* made), (between, high, made))

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request)
{
    static const MpiFunction function{"MPI_Comm_idup", RegionRole::collective_other};
    const std::shared_ptr<const KnownCommunicator> known = next_duplicate(comm);
    const int code = time_only(function, [&] { return PMPI_Comm_idup(comm, made, request); });
    if (known && code == MPI_SUCCESS)
        remember(*request, {.id = 0, .operation = PendingDuplicate{.made = made, .known = known}});
    return code;
}

// Records the name, but not the call.
int MPI_Comm_set_name(MPI_Comm comm, const char* name)
{
    const int code = PMPI_Comm_set_name(comm, name);
    LocationRecorder* location = recording_location();
    if (code != MPI_SUCCESS || location == nullptr) return code;
    if (const auto communicator = communicator_of(*location, comm)) {
        location->recorder().name(*communicator, name);
        set_named(comm);
    }
    return code;
}

// These calls make intercommunicators (two groups), which are not identified.

TIME_ONLY(MPI_Intercomm_create,
          (MPI_Comm comm, int leader, MPI_Comm bridge, int remote_leader, int tag, MPI_Comm* made),
          (comm, leader, bridge, remote_leader, tag, made))
TIME_ONLY(MPI_Comm_spawn,
          (const char* command, char* arguments[], int processes, MPI_Info info, int root, MPI_Comm comm,
           MPI_Comm* made, int codes[]),
          (command, arguments, processes, info, root, comm, made, codes))
TIME_ONLY(MPI_Comm_spawn_multiple,
          (int count, char* commands[], char** arguments[], const int processes[], const MPI_Info infos[], int root,
           MPI_Comm comm, MPI_Comm* made, int codes[]),
          (count, commands, arguments, processes, infos, root, comm, made, codes))
TIME_ONLY(MPI_Comm_accept, (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),
          (port, info, root, comm, made))
TIME_ONLY(MPI_Comm_connect, (const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made),
          (port, info, root, comm, made))
TIME_ONLY(MPI_Comm_disconnect, (MPI_Comm * comm), (comm))
TIME_ONLY(MPI_Comm_free, (MPI_Comm * comm), (comm))

}  // extern "C"
