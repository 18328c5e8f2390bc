// SPDX-License-Identifier: Apache-2.0
// Transfers of a scratch file: their size at a rate, and their order.
#include "noisegen/stressors/io/block_io.hpp"
#include "testing/made_stressor.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

using testing::Made;
using testing::Scratch;

TEST_CASE("transfers at a rate in bytes are as small as a thousandth of a second's, in powers of two")
{
    constexpr std::int64_t mib = 1 << 20;
    CHECK(noisegen::block_at(0.0, mib) == mib);
    CHECK(noisegen::block_at(200.0 * mib, mib) == 128 << 10);
    CHECK(noisegen::block_at(1.0 * mib, mib) == 64 << 10);
    CHECK(noisegen::block_at(4096.0 * mib, mib) == mib);
    CHECK(noisegen::block_at(200.0 * mib, 4096) == 4096);
    // Transfers follow one another, and are aligned when their size grows.
    noisegen::BlockOptions options;
    options.size = 2 * mib;
    noisegen::InOrder order{options};
    CHECK(order.next(128 << 10) == 0);
    CHECK(order.next(128 << 10) == 128 << 10);
    CHECK(order.next(mib) == 0);
    CHECK(order.next(mib) == mib);
    CHECK(order.next(mib) == 0);
}

TEST_CASE("a byte rate of io.write comes in small transfers, and as fast as it goes in large ones")
{
    constexpr std::uint64_t kib = 1024;
    const Scratch scratch;
    for (const std::string engine : {"pread", "auto"}) {
        CAPTURE(engine);
        const Made made{"io.write", {{"directory", scratch.path()}, {"size", "2MiB"}, {"engine", engine}}};
        const auto bytes_of_one = [&](double bytes_per_s) {
            made.stressor->begin({.bytes_per_s = bytes_per_s});
            noisegen::Work work;
            while (work.operations == 0) {
                const noisegen::Work step = made.stressor->step();
                work.bytes += step.bytes;
                work.operations += step.operations;
            }
            made.stressor->end();
            return work.bytes / work.operations;
        };
        CHECK(bytes_of_one(100e6) == 64 * kib);
        CHECK(bytes_of_one(0.0) == 1024 * kib);
        CHECK(bytes_of_one(300e6) == 256 * kib);
    }
}
