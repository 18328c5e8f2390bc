// SPDX-License-Identifier: Apache-2.0
// Sequential reads of an unnamed scratch file that was written in advance: contend for the disk like a training that
// reads large shards.
#include "noisegen/stressors/io/block_io.hpp"

namespace noisegen {

extern const StressorCard io_read{
    .name = "io.read",
    .summary = "sequential reads of an unnamed scratch file written beforehand; an operation is one read",
    .options = with_intensity("200MiB/s or 500/s", block_options()),
    .counts_bytes = true,
    .counts_operations = true,
    .needs = [](const base::Settings& settings) { return read_block_options("io.read", settings).needs(); },
    .make = [](const base::Settings& settings, const Place&) -> std::unique_ptr<Stressor> {
        const BlockOptions options = read_block_options("io.read", settings);
        return std::make_unique<BlockStressor>(options, true, [at = InOrder{options}](std::int64_t bytes) mutable {
            return Transfer{Transfer::Kind::read, at.next(bytes)};
        });
    },
};

}  // namespace noisegen
