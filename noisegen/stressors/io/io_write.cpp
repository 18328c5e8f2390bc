// SPDX-License-Identifier: Apache-2.0
// Sequential writes, repeated over an unnamed scratch file of fixed size: contend for the disk and for the file
// system's servers.
#include "noisegen/stressors/io/block_io.hpp"

namespace noisegen {

extern const StressorCard io_write{
    .name = "io.write",
    .summary = "repeated sequential writes to an unnamed scratch file; an operation is one write",
    .options = with_intensity("200MiB/s or 500/s", block_options()),
    .counts_bytes = true,
    .counts_operations = true,
    .needs = [](const base::Settings& settings) { return read_block_options("io.write", settings).needs(); },
    .make = [](const base::Settings& settings, const Place&) -> std::unique_ptr<Stressor> {
        const BlockOptions options = read_block_options("io.write", settings);
        return std::make_unique<BlockStressor>(options, false, [at = InOrder{options}](std::int64_t bytes) mutable {
            return Transfer{Transfer::Kind::write, at.next(bytes)};
        });
    },
};

}  // namespace noisegen
