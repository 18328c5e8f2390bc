// SPDX-License-Identifier: Apache-2.0
// A checkpoint in the background whose writer is slowed, while the training changes its state.
#pragma once

#include "base/csv.hpp"
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"
#include "ddl-workloads/checkpoint/checkpoint_store.hpp"
#include "ddl-workloads/checkpoint/checkpointer.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <future>
#include <span>
#include <vector>

namespace testing {

// Checks that what changes after the checkpoint began is not in it.
inline void check_later_changes(const ddl::CheckpointFormat& format)
{
    class SlowWriter : public ddl::WriteObserver {
     public:
        std::promise<void> go;
        void write_begins(std::int64_t, std::int64_t) override { go.get_future().wait(); }
    };
    INFO(format.name);
    const Scratch scratch;
    const std::filesystem::path directory = scratch / "checkpoints";
    std::filesystem::create_directories(directory);
    std::vector<float> weight{1.0F, 2.0F};
    const std::vector<ddl::StateTensor> state{
        {"model/weight", ddl::ElementType::float32, {2}, std::as_writable_bytes(std::span{weight})}};
    ddl::ExchangeThread exchanges{ddl::connector("self", {})};
    SlowWriter writer;
    ddl::Checkpointer checkpointer{{.every_steps = 1, .format = format.name}, directory, exchanges, writer};
    ddl::CheckpointMeta meta;
    meta.step = 1;
    checkpointer.write(meta, state, true);
    weight = {3.0F, 4.0F};
    CHECK(ddl::checkpoints_in(directory).empty());
    CHECK(base::CsvTable{scratch / "checkpoints.csv"}.rows() == 0);
    writer.go.set_value();
    checkpointer.finish();
    CHECK(base::CsvTable{scratch / "checkpoints.csv"}.rows() == 1);
    ddl::CheckpointReader{ddl::checkpoint_path(directory, 1)}.read(state, 0);
    CHECK(weight == std::vector{1.0F, 2.0F});
}

}  // namespace testing
