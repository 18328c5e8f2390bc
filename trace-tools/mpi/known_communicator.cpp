// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/mpi/known_communicator.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>

namespace otf2 {

namespace {

// MPI attribute that is cached with a communicator.
struct Attribute {
    KnownCommunicator known;
    std::uint64_t duplicates = 0;  // number of duplicates that MPI_Comm_idup made of it
};

// Numbers of the communicators in which this process is rank 0. Never destroyed, because MPI_Finalize, which frees
// communicators, may run as late as in an exit handler.
struct Numbers {
    std::mutex mutex;
    std::int64_t made = 0;  // guarded by mutex
    // Numbers of freed communicators, by the members that they had; guarded by mutex.
    std::map<std::vector<int>, std::vector<std::int64_t>> free;
};

Numbers& numbers()
{
    static auto& all = *new Numbers;
    return all;
}

std::int64_t take_number(const std::vector<int>& members)
{
    const std::lock_guard lock{numbers().mutex};
    const auto found = numbers().free.find(members);
    if (found == numbers().free.end()) return ++numbers().made;
    const std::int64_t number = found->second.back();
    found->second.pop_back();
    if (found->second.empty()) numbers().free.erase(found);
    return number;
}

void give_back(const KnownCommunicator& gone)
{
    int me = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (gone.key.maker != me || gone.key.number < 0 || gone.named) return;
    const std::lock_guard lock{numbers().mutex};
    numbers().free[gone.members].push_back(gone.key.number);
}

int forget(MPI_Comm, int, void* value, void*)
{
    const std::unique_ptr<Attribute> attribute{static_cast<Attribute*>(value)};
    give_back(attribute->known);
    return MPI_SUCCESS;
}

// Returns the key of the attribute. MPI calls forget() when it frees a communicator.
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

Attribute& the_world()
{
    static auto& world = *new Attribute{
        .known = {.key = world_communicator, .members = world_ranks(MPI_COMM_WORLD), .name = "MPI_COMM_WORLD"}};
    return world;
}

// Each rank has its own MPI_COMM_SELF.
Attribute& the_self()
{
    static auto& self = *[] {
        const std::vector<int> me = world_ranks(MPI_COMM_SELF);
        return new Attribute{
            .known = {.key = {.maker = me.front(), .number = INT64_MAX}, .members = me, .name = "MPI_COMM_SELF"}};
    }();
    return self;
}

Attribute* attribute_of(MPI_Comm communicator)
{
    if (communicator == MPI_COMM_WORLD) return &the_world();
    if (communicator == MPI_COMM_SELF) return &the_self();
    if (communicator == MPI_COMM_NULL) return nullptr;
    void* value = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(communicator, keyval(), static_cast<void*>(&value), &found);
    return found != 0 ? static_cast<Attribute*>(value) : nullptr;
}

// Mixes both numbers (finaliser of splitmix64). The result is negative, so it differs from counted numbers.
std::int64_t number_of_duplicate(std::int64_t of, std::uint64_t which)
{
    std::uint64_t bits = static_cast<std::uint64_t>(of) + which * 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<std::int64_t>((bits ^ (bits >> 31U)) | (std::uint64_t{1} << 63U));
}

}  // namespace

const KnownCommunicator* known(MPI_Comm communicator)
{
    const Attribute* attribute = attribute_of(communicator);
    return attribute != nullptr ? &attribute->known : nullptr;
}

void identify(MPI_Comm communicator)
{
    if (communicator == MPI_COMM_NULL) return;
    int between_groups = 0;
    PMPI_Comm_test_inter(communicator, &between_groups);
    if (between_groups != 0) return;
    std::vector<int> members = world_ranks(communicator);
    if (std::ranges::find(members, MPI_UNDEFINED) != members.end()) return;
    int rank = 0;
    PMPI_Comm_rank(communicator, &rank);
    std::int64_t number = rank == 0 ? take_number(members) : 0;
    PMPI_Bcast(&number, 1, MPI_INT64_T, 0, communicator);
    const CommunicatorKey key{.maker = members.front(), .number = number};
    identify(
        communicator,
        {.key = key, .members = std::move(members), .name = base::join("communicator ", key.maker, ".", key.number)});
}

void set_named(MPI_Comm communicator)
{
    if (Attribute* attribute = attribute_of(communicator)) attribute->known.named = true;
}

std::shared_ptr<const KnownCommunicator> next_duplicate(MPI_Comm communicator)
{
    Attribute* of = attribute_of(communicator);
    if (of == nullptr) return nullptr;
    const KnownCommunicator& known = of->known;
    return std::make_shared<KnownCommunicator>(KnownCommunicator{
        .key = {.maker = known.key.maker, .number = number_of_duplicate(known.key.number, ++of->duplicates)},
        .members = known.members,
        .name = "duplicate of " + known.name});
}

void identify(MPI_Comm duplicate, const KnownCommunicator& as)
{
    PMPI_Comm_set_attr(duplicate, keyval(), new Attribute{.known = as});
}

}  // namespace otf2
