// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/loading/batch_source.hpp"

#include <algorithm>
#include <utility>

namespace ddl {

BatchSource::BatchSource(LoaderPlan plan, int passes, std::int64_t steps_done) : plan_{std::move(plan)}, passes_{passes}
{
    start(steps_done);
}

Batch BatchSource::next()
{
    Batch batch = loader_->next();
    skipped_.report(batch.skipped);
    return batch;
}

void BatchSource::go_to(std::int64_t steps_done)
{
    loader_->stop();
    earlier_bytes_ += loader_->bytes_read();
    start(steps_done);
}

void BatchSource::set_readers(int readers, std::int64_t steps_done)
{
    plan_.readers = readers;
    go_to(steps_done);
}

std::int64_t BatchSource::steps_per_epoch() const
{
    return std::max<std::int64_t>(1, loader_->steps_per_epoch() / passes_);
}

void BatchSource::start(std::int64_t steps_done)
{
    plan_.sampling.first_step = steps_done * passes_;
    loader_.emplace(plan_);
}

}  // namespace ddl
