// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpointer.hpp"

#include "testing/checkpoint_formats.hpp"
#include "testing/later_changes.hpp"

#include <doctest/doctest.h>

#include <span>
#include <vector>

TEST_CASE("equal tensors are dealt out by size, rank 0's stay with it, and own ones with each")
{
    std::vector<std::byte> memory(100);
    const auto tensor = [&](std::size_t bytes, ddl::Owner owner) {
        return ddl::StateTensor{.path = "t",
                                .type = ddl::ElementType::uint8,
                                .shape = {},
                                .bytes = std::span{memory}.first(bytes),
                                .owner = owner};
    };
    using ddl::Owner;
    using Shares = std::vector<std::vector<std::size_t>>;
    const std::vector<ddl::StateTensor> equal{tensor(60, Owner::any), tensor(10, Owner::any), tensor(20, Owner::any),
                                              tensor(40, Owner::any)};
    CHECK(ddl::shares(equal, 1) == Shares{{0, 1, 2, 3}});
    CHECK(ddl::shares(equal, 2) == Shares{{0}, {1, 2, 3}});
    const std::vector<ddl::StateTensor> mixed{tensor(10, Owner::rank0), tensor(10, Owner::each),
                                              tensor(10, Owner::any)};
    CHECK(ddl::shares(mixed, 2) == Shares{{0, 1}, {1, 2}});
}

TEST_CASE("what changes after a checkpoint in the background began is not in it, however slowly it is written")
{
    for (const ddl::CheckpointFormat* format : testing::own_formats()) testing::check_later_changes(*format);
}
