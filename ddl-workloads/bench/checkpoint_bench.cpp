// SPDX-License-Identifier: Apache-2.0
// Cost of a checkpoint of each format (hdf5 if the case names none) compared with a plain write of the same bytes: the
// parameters of ResNet-18 and their momentum, written alternately, each time to a new file.
#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "ddl-workloads/checkpoint/checkpoint_writer.hpp"
#include "testing/bench_rows.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"

#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t pairs = 31;
const std::map<std::string, double> aims{{"hdf5", 1.3}, {"raw", 1.15}};  // with fsync; a torch archive has none

// Convolutions of four stages, each followed by the two vectors of its normalisation, then the classifier: 11.2 million
// numbers.
std::vector<std::vector<std::int64_t>> shapes()
{
    std::vector<std::vector<std::int64_t>> all{{64, 3, 3, 3}, {64}, {64}};
    std::int64_t in = 64;
    for (const std::int64_t width : {64, 128, 256, 512}) {
        for (int convolution = 0; convolution < 4; ++convolution) {
            all.insert(all.end(), {{width, convolution == 0 ? in : width, 3, 3}, {width}, {width}});
        }
        if (in != width) all.insert(all.end(), {{width, in, 1, 1}, {width}, {width}});
        in = width;
    }
    all.insert(all.end(), {{10, 512}, {10}});
    return all;
}

struct State {
    std::vector<std::vector<float>> numbers;
    std::vector<ddl::StateTensor> tensors;
    std::size_t bytes = 0;
};

State make_state()
{
    State state;
    for (const char* group : {"model/", "optimizer/momentum/"})
        for (const std::vector<std::int64_t>& shape : shapes()) {
            std::size_t count = 1;
            for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
            std::vector<float>& numbers = state.numbers.emplace_back(count);
            for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i % 1013) * 0.001F;
            state.tensors.push_back({.path = base::join(group, state.tensors.size()),
                                     .type = ddl::ElementType::float32,
                                     .shape = shape,
                                     .bytes = std::as_writable_bytes(std::span{numbers})});
            state.bytes += state.tensors.back().bytes.size();
        }
    return state;
}

void write_plainly(const fs::path& path, const State& state, bool durable)
{
    const int file = base::check_errno(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), "create ",
                                       path.string());
    for (const ddl::StateTensor& tensor : state.tensors)
        if (base::check_errno(::write(file, tensor.bytes.data(), tensor.bytes.size()), "write ", path.string()) !=
            static_cast<ssize_t>(tensor.bytes.size()))
            base::fail("short write of ", path.string());
    if (durable) base::check_errno(::fsync(file), "sync ", path.string());
    base::check_errno(::close(file), "close ", path.string());
}

double ms_of(const std::function<void()>& work)
{
    const std::int64_t begin = base::now_ns();
    work();
    return static_cast<double>(base::now_ns() - begin) / 1e6;
}

}  // namespace

int main(int argc, char** argv)
try {
    base::Options options{"checkpoint-bench",
                          "checkpoints of each format against plain writes of the same bytes, alternating"};
    if (!options.parse(argc, argv)) return 0;
    const State state = make_state();
    testing::BenchRows rows{"checkpoint-bench"};
    for (const ddl::CheckpointFormat* format : ddl::checkpoint_formats().cards()) {
        const testing::Scratch scratch;
        const auto aim = aims.find(format->name);
        for (const bool durable : {false, true}) {
            const auto checkpoint = [&] {
                fs::remove(ddl::checkpoint_file(scratch.path(), *format));
                return ms_of([&] {
                    ddl::write_whole_checkpoint(scratch.path(), {}, state.tensors,
                                                {.format = format, .durable = durable});
                });
            };
            const auto plain = [&] {
                fs::remove(scratch / "plain");
                return ms_of([&] { write_plainly(scratch / "plain", state, durable); });
            };
            const std::string what = base::join(
                format == ddl::checkpoint_formats().cards().front() ? "" : format->name + ", ", state.bytes / 1'000'000,
                " MB in ", state.tensors.size(), " tensors, ", durable ? "on the device" : "without fsync");
            rows.add({.name = what, .beside = "a plain write of the same bytes", .unit = "ms"},
                     testing::measure_in_pairs(pairs, checkpoint, plain),
                     durable && aim != aims.end() ? std::optional{testing::at_most(aim->second)} : std::nullopt);
        }
    }
} catch (...) {
    return base::report_failure("checkpoint-bench");
}
