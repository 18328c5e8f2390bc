#include "trace-tools/mpi/known_communicator.hpp"

#include <array>
#include <atomic>
#include <climits>
#include <numeric>

namespace otf2 {

namespace {

int forget(MPI_Comm, int, void* value, void*)
{
    delete static_cast<KnownCommunicator*>(value);
    return MPI_SUCCESS;
}

// MPI keeps our knowledge with the communicator, and calls forget() when that is freed.
int keyval()
{
    static const int key = [] {
        int created = MPI_KEYVAL_INVALID;
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &created, nullptr);
        return created;
    }();
    return key;
}

std::vector<int> world_ranks(MPI_Comm communicator)
{
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    int size = 0;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Comm_group(communicator, &group);
    PMPI_Group_size(group, &size);
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::vector<int> translated(ranks.size());
    PMPI_Group_translate_ranks(group, size, ranks.data(), world, translated.data());
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return translated;
}

const KnownCommunicator& the_world()
{
    static const KnownCommunicator world{
        .key = world_communicator, .members = world_ranks(MPI_COMM_WORLD), .name = "MPI_COMM_WORLD"};
    return world;
}

// Every rank has one of its own.
const KnownCommunicator& the_self()
{
    static const KnownCommunicator self = [] {
        const std::vector<int> me = world_ranks(MPI_COMM_SELF);
        return KnownCommunicator{
            .key = {.maker = me.front(), .number = INT_MAX}, .members = me, .name = "MPI_COMM_SELF"};
    }();
    return self;
}

}  // namespace

const KnownCommunicator* known(MPI_Comm communicator)
{
    if (communicator == MPI_COMM_WORLD) return &the_world();
    if (communicator == MPI_COMM_SELF) return &the_self();
    void* value = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(communicator, keyval(), static_cast<void*>(&value), &found);
    return found != 0 ? static_cast<const KnownCommunicator*>(value) : nullptr;
}

void identify(MPI_Comm communicator)
{
    static std::atomic<int> made{0};
    if (communicator == MPI_COMM_NULL) return;
    int between_groups = 0;
    PMPI_Comm_test_inter(communicator, &between_groups);
    if (between_groups != 0) return;
    std::vector<int> members = world_ranks(communicator);
    int rank = 0;
    PMPI_Comm_rank(communicator, &rank);
    int number = rank == 0 ? ++made : 0;
    PMPI_Bcast(&number, 1, MPI_INT, 0, communicator);
    const CommunicatorKey key{.maker = members.front(), .number = number};
    auto* value = new KnownCommunicator{.key = key, .members = std::move(members), .name = ""};
    PMPI_Comm_set_attr(communicator, keyval(), value);
}

}  // namespace otf2
