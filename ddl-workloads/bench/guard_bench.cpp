// SPDX-License-Identifier: Apache-2.0
// Cost of a guard's check compared with a plain read of the same bytes: the state of ResNet-18 with its momentum,
// alternately.
#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "ddl-workloads/guards/state_scan.hpp"
#include "soft-errors/state/checksums.hpp"
#include "testing/bench_rows.hpp"
#include "testing/paired.hpp"

#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace {

constexpr std::size_t pairs = 31;
constexpr std::size_t tensors = 62;
constexpr std::size_t numbers = 2 * 11'200'000 / tensors;  // in each tensor

using State = std::vector<std::vector<float>>;

State make_state()
{
    State state(tensors, std::vector<float>(numbers));
    for (std::vector<float>& tensor : state)
        for (std::size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<float>(i % 1013) * 0.001F;
    return state;
}

// Reads every byte and does as little work as the optimiser permits, in four independent vectors.
std::uint64_t read_all(std::span<const std::byte> bytes)
{
    constexpr std::size_t chunk_bytes = 16;
    typedef std::uint64_t Chunk __attribute__((vector_size(chunk_bytes)));
    Chunk read[4]{};
    for (std::size_t at = 0; at + sizeof read <= bytes.size(); at += sizeof read)
        for (std::size_t i = 0; i < std::size(read); ++i) {
            Chunk values;
            std::memcpy(&values, bytes.data() + at + i * chunk_bytes, chunk_bytes);
            read[i] ^= values;
        }
    const Chunk all = read[0] ^ read[1] ^ read[2] ^ read[3];
    return all[0] ^ all[1];
}

volatile double kept = 0.0;

double ms_of(const State& state, const std::function<double(std::span<const std::byte>)>& look)
{
    const std::int64_t begin = base::now_ns();
    double sum = 0.0;
    for (const std::vector<float>& tensor : state) sum += look(std::as_bytes(std::span{tensor}));
    kept = sum;
    return static_cast<double>(base::now_ns() - begin) / 1e6;
}

}  // namespace

int main(int argc, char** argv)
try {
    base::Options options{"guard-bench", "checks by guards against bare reads of the same bytes, alternating"};
    if (!options.parse(argc, argv)) return 0;
    const State state = make_state();
    testing::BenchRows rows{"guard-bench"};
    const auto bare = [&] {
        return ms_of(state, [](std::span<const std::byte> bytes) { return static_cast<double>(read_all(bytes)); });
    };
    const auto range = [&] {
        return ms_of(state, [](std::span<const std::byte> bytes) {
            return ddl::largest_magnitude(ddl::ElementType::float32, bytes);
        });
    };
    const auto checksum = [&] {
        return ms_of(state,
                     [](std::span<const std::byte> bytes) { return static_cast<double>(soft_errors::crc32c(bytes)); });
    };
    const std::string of = base::join(tensors * numbers * sizeof(float) / 1'000'000, " MB of state");
    const char* const beside = "a bare read";
    rows.add({.name = "range, " + of, .beside = beside, .unit = "ms"}, testing::measure_in_pairs(pairs, range, bare),
             testing::at_most(1.2));
    rows.add({.name = "checksum, " + of, .beside = beside, .unit = "ms"},
             testing::measure_in_pairs(pairs, checksum, bare), testing::at_most(1.3));
} catch (...) {
    return base::report_failure("guard-bench");
}
