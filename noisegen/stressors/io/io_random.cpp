// SPDX-License-Identifier: Apache-2.0
// Small reads and writes at random places of a scratch file: contend for the disk's operations per second rather than
// its bandwidth.
#include "base/error.hpp"
#include "base/random.hpp"
#include "noisegen/stressors/io/block_io.hpp"

namespace noisegen {

namespace {

double share_of_reads(const base::Settings& settings)
{
    const auto share = settings.get<base::Percent>("read");
    if (share.value < 0.0 || share.value > 100.0)
        base::fail_usage("io.random[read] must be 0% to 100%, not ", settings.text("read"));
    return share.fraction();
}

std::vector<base::OptionCard> random_options()
{
    auto options = block_options({.block = "4KiB", .depth = "64"});
    options.insert(options.begin(), {"read", "50%", "share of reads among the transfers"});
    return with_intensity("2000/s or 8MiB/s", options);
}

}  // namespace

extern const StressorCard io_random{
    .name = "io.random",
    .summary = "random reads and writes of a scratch file written beforehand; an operation is one transfer",
    .options = random_options(),
    .counts_bytes = true,
    .counts_operations = true,
    .needs =
        [](const base::Settings& settings) {
            share_of_reads(settings);
            return read_block_options("io.random", settings).needs();
        },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        BlockOptions options = read_block_options("io.random", settings);
        options.in_order = false;
        const auto blocks = static_cast<std::uint64_t>(options.size / options.block);
        return std::make_unique<BlockStressor>(
            options, true,
            [random = base::random_stream(static_cast<std::uint64_t>(place.job.rank), place.index),
             reads = share_of_reads(settings), blocks, block = options.block](std::int64_t) mutable {
                const bool read = base::draw_unit(random) < reads;
                const auto at = static_cast<std::int64_t>(base::draw_below(random, blocks));
                return Transfer{read ? Transfer::Kind::read : Transfer::Kind::write, at * block};
            });
    },
};

}  // namespace noisegen
