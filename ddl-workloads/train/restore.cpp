// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/train/restore.hpp"

#include "base/error.hpp"
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"
#include "ddl-workloads/checkpoint/checkpointer.hpp"
#include "ddl-workloads/plan/checkpoint_meta.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace ddl {

std::filesystem::path as_rank0_found(const std::filesystem::path& checkpoint, ExchangeThread& exchanges)
{
    std::string path = checkpoint.string();
    std::uint64_t size = path.size();
    exchanges.broadcast(std::as_writable_bytes(std::span{&size, 1}), 0).get();
    path.resize(size);
    exchanges.broadcast(std::as_writable_bytes(std::span{path}), 0).get();
    return path;
}

void restore(const std::filesystem::path& checkpoint, const CheckpointMeta& is, Model& model, bool ranks_are_equal,
             int rank)
{
    const CheckpointReader reader{checkpoint};
    check_same_training(reader.meta(), is);
    reader.read(training_state(model, ranks_are_equal), rank);
    model.restored();
    if (rank != 0) return;
    base::warn("resuming after step ", is.step, " of ", checkpoint.string());
    if (const std::string& was = reader.meta().rates; !was.empty() && was != is.rates)
        base::warn("not bit-identical to an uninterrupted run: ", is.rates, ", earlier ", was);
}

}  // namespace ddl
