// SPDX-License-Identifier: Apache-2.0
// The batches of a data set, starting at any step.
#pragma once

#include "ddl-workloads/data/loading/loader.hpp"
#include "ddl-workloads/data/loading/skipped_records.hpp"
#include "ddl-workloads/data/loading/source.hpp"

#include <cstdint>
#include <optional>

namespace ddl {

class BatchSource : public Source {
 public:
    // Starts to read ahead after `steps_done` steps of `passes` passes each. Throws as Loader does.
    BatchSource(LoaderPlan plan, int passes, std::int64_t steps_done);

    Batch next() override;
    void go_to(std::int64_t steps_done) override;
    std::int64_t steps_per_epoch() const override;

    // Sets the number of threads that read and decode; 0: next() does it. The next batch is the one after `steps_done`
    // steps. Batches that were read ahead are discarded and read again.
    void set_readers(int readers, std::int64_t steps_done);
    int readers() const { return plan_.readers; }

    // Stops the loader's threads; next() then throws until go_to() is called.
    void stop() { loader_->stop(); }

    const Records& records() const { return *plan_.records; }
    int queue_depth() const { return loader_->queue_depth(); }
    std::int64_t bytes_read() const { return earlier_bytes_ + loader_->bytes_read(); }  // in total, since construction
    SkippedRecords& skipped() { return skipped_; }

 private:
    void start(std::int64_t steps_done);

    LoaderPlan plan_;
    int passes_;
    std::optional<Loader> loader_;
    std::int64_t earlier_bytes_ = 0;  // read by loaders that go_to() ended
    SkippedRecords skipped_;
};

}  // namespace ddl
