// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/io/block_io.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "noisegen/stressors/io/many_files.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fcntl.h>

namespace noisegen {

std::vector<base::OptionCard> block_options(const BlockDefaults& defaults)
{
    return {{"directory", "/tmp", "directory on the disk to stress, not in memory"},
            {"size", defaults.size, defaults.size_help},
            {"block", defaults.block,
             defaults.block == "auto" ? "bytes per transfer; auto: 1MiB, less (down to 64KiB) at a low rate in bytes"
                                      : "bytes per transfer"},
            {"depth", defaults.depth, "transfers in flight, with io_uring"},
            {"engine", "auto", "io_uring, pread (one transfer at a time), or auto: io_uring if depth is more than 1"},
            {"direct", defaults.direct, "O_DIRECT, if the file system supports it; no: through the page cache"},
            {"pages", "huge",
             "pages of the buffer; small: a transfer splits into many requests that fill the disk's queue, where other "
             "writes and fsync wait (worst with mq-deadline)"}};
}

BlockOptions read_block_options(const std::string& stressor, const base::Settings& settings)
{
    constexpr std::int64_t sector = 4096;
    constexpr std::int64_t most_by_rate = 1 << 20;
    BlockOptions options;
    options.directory = settings.text("directory");
    const bool in_order = stressor == "io.write" || stressor == "io.read";
    options.block_by_rate = in_order && settings.text("block") == "auto";
    options.block = options.block_by_rate ? most_by_rate : settings.get<base::Bytes>("block").count;
    if (options.block < sector || options.block % sector != 0 || options.block > (1 << 30))
        base::fail_usage(stressor, "[block] must be a multiple of 4KiB up to 1GiB, not ", settings.text("block"));
    options.size = settings.get<base::Bytes>("size").count;
    if (options.size < options.block || options.size % options.block != 0)
        base::fail_usage(stressor, "[size] must be a multiple of the block (", base::format(base::Bytes{options.block}),
                         "), not ", settings.text("size"));
    const auto depth = settings.get<std::uint64_t>("depth");
    if (depth < 1 || depth > 1024)
        base::fail_usage(stressor, "[depth] must be 1 to 1024, not ", settings.text("depth"));
    options.depth = static_cast<unsigned>(depth);
    try {
        options.engine = IoRing::engine(settings.text("engine"));
    } catch (const base::UsageError& error) {
        base::fail_usage(stressor, "[engine]: ", error.what());
    }
    options.direct = settings.get<bool>("direct");
    const std::string pages = settings.text("pages");
    if (pages != "huge" && pages != "small") base::fail_usage(stressor, "[pages] must be huge or small, not ", pages);
    options.pages = pages == "small" ? PageSize::small : PageSize::huge;
    return options;
}

std::int64_t block_at(double bytes_per_s, std::int64_t block)
{
    constexpr std::int64_t least = 64 << 10;
    if (bytes_per_s <= 0.0 || block <= least) return block;
    const double due = std::clamp(bytes_per_s / 1000.0, static_cast<double>(least), static_cast<double>(block));
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(due)));
}

Needs BlockOptions::needs() const
{
    return {.memory = {block * depth}, .disk = {size}, .directory = directory, .files = 1, .descriptors = 2};
}

BlockFile::BlockFile(const BlockOptions& options, bool filled)
    : options_{options},
      block_{options.block},
      file_{options.directory, options.size},
      direct_{options.direct && file_.bypass_cache()}
{
    if (!options.in_order) ::posix_fadvise(file_.descriptor(), 0, 0, POSIX_FADV_RANDOM);
    if (filled) file_.fill();
    ring_ = IoRing::make({.file = file_.descriptor(),
                          .block = static_cast<std::size_t>(options.block),
                          .depth = options.depth,
                          .engine = options.engine,
                          .place = options.directory.string(),
                          .pages = options.pages});
}

void BlockFile::begin(const Turn& turn)
{
    turn_ = turn;
    if (!options_.block_by_rate) return;
    block_ = block_at(turn.bytes_per_s, options_.block);
    ring_->transfer_bytes(static_cast<std::size_t>(block_));
}

// At a rate, the number of transfers due in a millisecond, so that they are spread evenly. If a transfer takes longer
// than a millisecond, rate x latency must be in flight (Little's law), doubled so that a slow transfer does not delay
// others.
unsigned BlockFile::wanted() const
{
    if (!turn_.limited()) return ring_->depth();
    const double transfers_per_s = std::max(turn_.operations_per_s, turn_.bytes_per_s / static_cast<double>(block_));
    const double ns = std::max(1e6, 2.0 * static_cast<double>(ring_->latency_ns()));
    return static_cast<unsigned>(
        std::clamp(std::floor(transfers_per_s * ns * 1e-9), 1.0, static_cast<double>(ring_->depth())));
}

void BlockFile::start(Transfer transfer)
{
    // Reads through the page cache must come from the disk, so their range is dropped from the cache. For sequential
    // reads a range half a file away is dropped, since the kernel reads ahead.
    if (!direct_ && transfer.kind == Transfer::Kind::read) {
        const std::int64_t away = options_.in_order ? options_.size / options_.block / 2 * options_.block : 0;
        file_.drop((transfer.offset + away) % options_.size, block_);
    }
    ring_->start(transfer);
}

Work BlockFile::step(const Next& next)
{
    const bool ends = turn_.deadline_ns > 0 && base::now_ns() + ring_->latency_ns() >= turn_.deadline_ns;
    if (ends) {
        Work work = wait();
        if (!busy()) work.rest_until_ns = turn_.deadline_ns;
        return work;
    }
    const unsigned most = wanted();
    while (ring_->in_flight() < most) {
        const std::optional<Transfer> transfer = next(block_);
        if (!transfer) break;
        start(*transfer);
    }
    // Without a rate: waits for an eighth of the transfers at a time, which saves system calls and leaves the others
    // for the disk to work on.
    return ring_->take(turn_.limited() ? most : std::max(1U, most / 8), patience_ns);
}

std::string BlockFile::note() const
{
    return base::join(ring_->name(),
                      direct_           ? " past the page cache"
                      : options_.direct ? " through the page cache (the file system refuses O_DIRECT)"
                                        : " through the page cache",
                      ", ", base::format(base::Bytes{block_}), " blocks, depth ", ring_->depth(), ", ",
                      scratch_note(options_.directory));
}

}  // namespace noisegen
