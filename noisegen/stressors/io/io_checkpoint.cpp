// SPDX-License-Identifier: Apache-2.0
// I/O of checkpoints: idle for a long time, then one burst of writes that ends with a sync. Bursts begin at multiples
// of `every` on CLOCK_REALTIME, so that all processes of a job, on all nodes, write at the same time.
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "noisegen/stressors/io/block_io.hpp"

#include <algorithm>

#include <unistd.h>

namespace noisegen {

namespace {

constexpr std::int64_t synced = std::int64_t{32} << 20;  // bytes between syncs, so that a stop need not wait for more

struct CheckpointOptions {
    BlockOptions blocks;
    std::int64_t every_ns = 0;
    bool sync = true;
};

CheckpointOptions checkpoint_options(const base::Settings& settings)
{
    constexpr base::Nanoseconds shortest{10'000'000};
    constexpr base::Nanoseconds longest = std::chrono::hours{24};
    const auto every = settings.get<base::Nanoseconds>("every");
    if (every < shortest || every > longest)
        base::fail_usage("io.checkpoint[every] must be 10ms to 24h, not ", settings.text("every"));
    return {.blocks = read_block_options("io.checkpoint", settings),
            .every_ns = every.count(),
            .sync = settings.get<bool>("sync")};
}

class IoCheckpoint final : public Stressor {
 public:
    explicit IoCheckpoint(const CheckpointOptions& options) : options_{options}, file_{options.blocks, false} {}

    // A burst that the end of a turn cut off is not resumed.
    void begin(const Turn& turn) override
    {
        file_.begin(turn);
        written_ = options_.blocks.size;
        unsynced_ = 0;
        set_next();
    }

    Work step() override
    {
        if (written_ == options_.blocks.size && !file_.busy() && unsynced_ == 0) {
            if (base::now_ns() < next_ns_) return {.bytes = 0, .operations = 0, .rest_until_ns = next_ns_};
            written_ = 0;
        }
        Work work = file_.step([this](std::int64_t) { return next_transfer(); });
        unsynced_ += static_cast<std::int64_t>(work.bytes);
        const bool complete = written_ == options_.blocks.size && !file_.busy();
        if (complete || unsynced_ >= synced) sync();
        if (complete) finish();
        return work;
    }

    void end() override { file_.end(); }

    std::string note() const override
    {
        return base::join(file_.note(), options_.sync ? ", synced" : ", not synced", ", ", bursts_,
                          bursts_ == 1 ? " burst" : " bursts", " complete, the longest ",
                          base::format(base::Nanoseconds{longest_ns_ / 1000 * 1000}));
    }

 private:
    std::optional<Transfer> next_transfer()
    {
        if (written_ == options_.blocks.size) return {};
        const std::int64_t at = written_;
        written_ += options_.blocks.block;
        return Transfer{Transfer::Kind::write, at};
    }

    void sync()
    {
        unsynced_ = 0;
        if (options_.sync) base::check_errno(::fsync(file_.descriptor()), "write the checkpoint to disk");
    }

    void finish()
    {
        ++bursts_;
        longest_ns_ = std::max(longest_ns_, base::now_ns() - next_ns_);
        set_next();
    }

    void set_next()
    {
        const std::int64_t offset = base::realtime_offset_ns();
        const std::int64_t real = base::now_ns() + offset;
        next_ns_ = (real / options_.every_ns + 1) * options_.every_ns - offset;
    }

    CheckpointOptions options_;
    BlockFile file_;
    std::int64_t written_ = 0;  // bytes of this burst written or submitted; equal to its size between bursts
    std::int64_t unsynced_ = 0;
    std::int64_t next_ns_ = 0;  // time of the next burst, or planned time of the present one
    std::int64_t longest_ns_ = 0;
    std::size_t bursts_ = 0;
};

std::vector<base::OptionCard> checkpoint_options()
{
    auto options = block_options({.size_help = "size of a checkpoint, per CPU", .block = "1MiB", .direct = "no"});
    options.insert(options.begin(),
                   {{"every", "30s", "time between bursts; they begin at its multiples on the wall clock"},
                    {"sync", "yes", "sync at the end of each burst; no: the kernel writes later"}});
    return options;
}

}  // namespace

extern const StressorCard io_checkpoint{
    .name = "io.checkpoint",
    .summary = "periodic bursts of writes, at the same time on all nodes; an operation is one write",
    .options = checkpoint_options(),
    .counts_bytes = true,
    .counts_operations = true,
    .needs = [](const base::Settings& settings) { return checkpoint_options(settings).blocks.needs(); },
    .make = [](const base::Settings& settings, const Place&) -> std::unique_ptr<Stressor> {
        return std::make_unique<IoCheckpoint>(checkpoint_options(settings));
    },
};

}  // namespace noisegen
