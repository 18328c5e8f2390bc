// SPDX-License-Identifier: Apache-2.0
// Common base of stressors that read and write blocks of one scratch file: their options, and a step that keeps as many
// transfers in flight as the rate needs.
#pragma once

#include "noisegen/stressors/io/io_ring.hpp"
#include "noisegen/stressors/io/scratch_file.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <functional>
#include <optional>

namespace noisegen {

struct BlockOptions {
    std::filesystem::path directory;
    std::int64_t block = 0;
    bool block_by_rate = false;  // smaller blocks at a byte rate, about a hundred in a tenth of a second
    std::int64_t size = 0;       // a multiple of the block
    unsigned depth = 0;
    IoRing::Engine engine = IoRing::Engine::automatic;
    bool direct = true;
    PageSize pages = PageSize::huge;  // pages of the transfer buffers
    bool in_order = true;             // sequential transfers, so that the kernel reads ahead

    Needs needs() const;
};

// Options size, block, depth, engine, direct, pages and directory, with these defaults.
struct BlockDefaults {
    std::string size = "256MiB";
    std::string size_help = "size of the scratch file per CPU";
    std::string block = "auto";
    std::string depth = "8";
    std::string direct = "yes";
};
std::vector<base::OptionCard> block_options(const BlockDefaults& defaults = {});

// Bytes of a transfer at that rate: about a thousandth of a second's bytes, rounded to a power of two, at least 64 KiB
// and at most `block`. A rate of 0 means none and gives `block`.
std::int64_t block_at(double bytes_per_s, std::int64_t block);

// Throws UsageError that names the stressor and the option.
BlockOptions read_block_options(const std::string& stressor, const base::Settings& settings);

// A scratch file and transfers in flight on it.
class BlockFile {
 public:
    // filled: the whole file is written once, so that it can be read.
    BlockFile(const BlockOptions& options, bool filled);

    // Begins a turn. Without a rate, `depth` transfers are kept in flight.
    void begin(const Turn& turn);

    // Chooses the next transfer, of `bytes` bytes; returns none if there is nothing to do for now.
    using Next = std::function<std::optional<Transfer>(std::int64_t bytes)>;

    // Starts transfers and waits for about a millisecond at most. Towards the end of the turn it only waits for
    // transfers in flight, so that all of them are counted.
    Work step(const Next& next);

    // Starts no transfer; waits for those in flight, about a millisecond at most.
    Work wait() { return ring_->take(ring_->in_flight(), patience_ns); }
    bool busy() const { return ring_->in_flight() > 0; }

    void end() { ring_->settle(); }

    int descriptor() const { return file_.descriptor(); }
    std::string note() const;

 private:
    static constexpr std::int64_t patience_ns = 1'000'000;

    unsigned wanted() const;
    void start(Transfer transfer);

    BlockOptions options_;
    std::int64_t block_;  // bytes of the transfers in this turn
    ScratchFile file_;
    bool direct_;
    std::unique_ptr<IoRing> ring_;
    Turn turn_;
};

// Visits one block after the other, and starts again at the end of the file.
class InOrder {
 public:
    explicit InOrder(const BlockOptions& options) : size_{options.size} {}
    // `bytes` must be the block's size divided by a power of two. If `bytes` grows, the position is rounded down to a
    // multiple of it.
    std::int64_t next(std::int64_t bytes)
    {
        const std::int64_t at = at_ / bytes * bytes;
        at_ = (at + bytes) % size_;
        return at;
    }

 private:
    std::int64_t size_;
    std::int64_t at_ = 0;
};

// A stressor that only chooses the next transfer; BlockFile does the rest.
class BlockStressor final : public Stressor {
 public:
    BlockStressor(const BlockOptions& options, bool filled, BlockFile::Next next)
        : file_{options, filled}, next_{std::move(next)}
    {
    }
    void begin(const Turn& turn) override { file_.begin(turn); }
    Work step() override { return file_.step(next_); }
    void end() override { file_.end(); }
    std::string note() const override { return file_.note(); }

 private:
    BlockFile file_;
    BlockFile::Next next_;
};

}  // namespace noisegen
