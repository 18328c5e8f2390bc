// MPI's calls that make and free communicators: recorded, and what they make is given a name all its ranks agree on.
#include "trace-tools/mpi/recorded_call.hpp"

namespace otf2 {

namespace {

// The naming happens whether the call is recorded or not: every rank of the new communicator takes part in it.
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

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made)
{
    static const MpiFunction function{"MPI_Comm_dup", RegionRole::collective_other};
    return making(function, made, [&] { return PMPI_Comm_dup(comm, made); });
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm* made)
{
    static const MpiFunction function{"MPI_Comm_split", RegionRole::collective_other};
    return making(function, made, [&] { return PMPI_Comm_split(comm, colour, key, made); });
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made)
{
    static const MpiFunction function{"MPI_Comm_split_type", RegionRole::collective_other};
    return making(function, made, [&] { return PMPI_Comm_split_type(comm, type, key, info, made); });
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made)
{
    static const MpiFunction function{"MPI_Comm_create", RegionRole::collective_other};
    return making(function, made, [&] { return PMPI_Comm_create(comm, group, made); });
}

int MPI_Comm_free(MPI_Comm* comm)
{
    static const MpiFunction function{"MPI_Comm_free", RegionRole::collective_other};
    std::optional<RecordedCall> recorded;
    if (LocationRecorder* location = recording_location()) recorded.emplace(*location, function);
    return PMPI_Comm_free(comm);
}

}  // extern "C"
