// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpointer.hpp"

#include "base/csv.hpp"
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"
#include "ddl-workloads/checkpoint/checkpoint_store.hpp"
#include "testing/checkpoint_formats.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <future>
#include <span>
#include <string>
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
    class SlowWriter : public ddl::WriteObserver {
     public:
        std::promise<void> go;
        void write_begins(std::int64_t, std::int64_t) override { go.get_future().wait(); }
    };
    const testing::Scratch scratch;
    for (const ddl::CheckpointFormat* one : testing::own_formats()) {
        const std::string& format = one->name;
        INFO(format);
        const std::filesystem::path directory = scratch / format / "checkpoints";
        std::filesystem::create_directories(directory);
        std::vector<float> weight{1.0F, 2.0F};
        const std::vector<ddl::StateTensor> state{
            {"model/weight", ddl::ElementType::float32, {2}, std::as_writable_bytes(std::span{weight})}};
        ddl::ExchangeThread exchanges{ddl::connector("self", {})};
        SlowWriter writer;
        ddl::Checkpointer checkpointer{{.every_steps = 1, .format = format}, directory, exchanges, writer};
        ddl::CheckpointMeta meta;
        meta.step = 1;
        checkpointer.write(meta, state, true);
        weight = {3.0F, 4.0F};
        CHECK(ddl::checkpoints_in(directory).empty());
        CHECK(base::CsvTable{scratch / format / "checkpoints.csv"}.rows() == 0);
        writer.go.set_value();
        checkpointer.finish();
        CHECK(base::CsvTable{scratch / format / "checkpoints.csv"}.rows() == 1);
        ddl::CheckpointReader{ddl::checkpoint_path(directory, 1)}.read(state, 0);
        CHECK(weight == std::vector{1.0F, 2.0F});
    }
}
