// SPDX-License-Identifier: Apache-2.0
// Cost of the loader compared with hand-written loops that read the same records in the same order from a warm page
// cache, both from the same files and from a plain file: input bytes per second, measured alternately.
#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "ddl-workloads/data/conversion.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/hdf5.hpp"
#include "ddl-workloads/data/loading/loader.hpp"
#include "soft-errors/state/checksums.hpp"
#include "testing/bench_rows.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace {

constexpr std::size_t pairs = 21;
constexpr std::int64_t input_bytes = std::int64_t{64} << 20;
constexpr std::int64_t batch = 64;

double mb_per_s(std::int64_t bytes, std::int64_t begin_ns)
{
    return static_cast<double>(bytes) / 1e6 / base::seconds(base::Nanoseconds{base::now_ns() - begin_ns});
}

struct Input {
    std::string name;
    std::shared_ptr<const ddl::Records> records;
    std::int64_t steps() const { return records->records() / batch; }
    std::int64_t bytes() const { return steps() * batch * records->shape().record_bytes(); }
};

Input input_of(const std::string& name, const std::string& text, const std::string& folder)
{
    const ddl::DataSet set = ddl::data_set(text, folder);
    ddl::write_data_set(set);
    return {.name = name, .records = ddl::open_part(set, ddl::Part::train)};
}

// ------------------------------------------------------------------------------------------------ hand-written loops

// Returns record `number`; valid until the next call.
using ReadRecord = std::function<std::span<const std::uint8_t>(std::int64_t number)>;

struct Descriptor {
    explicit Descriptor(const std::string& path)
        : number{base::check_errno(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open ", path)}
    {
    }
    ~Descriptor() { ::close(number); }
    Descriptor(const Descriptor&) = delete;
    int number;
};

// Reads `bytes` bytes at every multiple of `stride`.
ReadRecord plain_file(const std::string& path, std::int64_t bytes, std::int64_t stride)
{
    return [=, file = std::make_shared<Descriptor>(path),
            room = std::vector<std::uint8_t>(static_cast<std::size_t>(bytes))](std::int64_t number) mutable {
        if (::pread(file->number, room.data(), room.size(), number * stride) < 0) base::fail("cannot read");
        return std::span<const std::uint8_t>{room};
    };
}

ReadRecord shard(const std::string& path, std::int64_t bytes)
{
    const auto size = static_cast<std::size_t>(bytes);
    return [size, read = plain_file(path, bytes + 4, bytes + 4)](std::int64_t number) {
        const std::span<const std::uint8_t> room = read(number);
        if (soft_errors::crc32(std::as_bytes(room.first(size))) != ddl::id_at(room.subspan(size)))
            base::fail("is damaged");
        return room.first(size);
    };
}

struct Hdf5Images {
    explicit Hdf5Images(const std::string& path)
        : file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)},
          images{ddl::hdf5::check(H5Dopen2(file.get(), "/train/images", H5P_DEFAULT), "open the images")},
          in_file{H5Dget_space(images.get())}
    {
        H5Sget_simple_extent_dims(in_file.get(), size.data(), nullptr);
        labels.resize(size[0]);
        const ddl::hdf5::DataSet set{H5Dopen2(file.get(), "/train/labels", H5P_DEFAULT)};
        ddl::hdf5::check(H5Dread(set.get(), H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, labels.data()),
                         "read the labels");
        size[0] = 1;
        in_memory = ddl::hdf5::Space{H5Screate_simple(4, size.data(), nullptr)};
        record.resize(1 + size[1] * size[2] * size[3]);
    }

    std::span<const std::uint8_t> read(std::int64_t number)
    {
        const std::array<hsize_t, 4> begin{static_cast<hsize_t>(number)};
        record[0] = labels[begin[0]];
        H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr);
        ddl::hdf5::check(
            H5Dread(images.get(), H5T_NATIVE_UINT8, in_memory.get(), in_file.get(), H5P_DEFAULT, record.data() + 1),
            "read an image");
        return record;
    }

    ddl::hdf5::File file;
    ddl::hdf5::DataSet images;
    ddl::hdf5::Space in_file;
    ddl::hdf5::Space in_memory;
    std::array<hsize_t, 4> size{};
    std::vector<std::uint8_t> labels;
    std::vector<std::uint8_t> record;
};

ReadRecord hdf5_file(const std::string& path)
{
    return [file = std::make_shared<Hdf5Images>(path)](std::int64_t number) { return file->read(number); };
}

// Reads a batch into one vector and converts it to floats (for text: to whole numbers), as the loader does.
template <class Number, class Convert>
double loop(const Input& input, const ReadRecord& read, const Convert& convert)
{
    const auto record_bytes = static_cast<std::size_t>(input.records->shape().record_bytes());
    std::uint64_t sum = 0;
    const std::int64_t begin = base::now_ns();
    ddl::Sampler sampler{input.records->records(), {.batch = batch}};
    for (std::int64_t step = 0; step < input.steps(); ++step) {
        std::vector<Number> numbers(batch * record_bytes);
        auto to = numbers.begin();
        for (const std::int64_t number : sampler.batch(step)) {
            const std::span<const std::uint8_t> record = read(number);
            to = std::transform(record.begin(), record.end(), to, convert);
        }
        sum += static_cast<std::uint64_t>(numbers[1]);
    }
    const double rate = mb_per_s(input.bytes(), begin);
    if (sum == 1) std::cout << "";  // keeps the compiler from removing the loop
    return rate;
}

double loop(const Input& input, const ReadRecord& read)
{
    if (input.records->shape().kind == ddl::SampleShape::Kind::text)
        return loop<std::int64_t>(input, read, [](std::uint8_t byte) { return std::int64_t{byte}; });
    return loop<float>(input, read, [](std::uint8_t byte) { return static_cast<float>(byte) / 127.5F - 1.0F; });
}

// -------------------------------------------------------------------------------------------------------- the loader

double load(const Input& input, int readers, int transformers)
{
    ddl::Loader loader{{.records = input.records,
                        .sampling = {.batch = batch},
                        .readers = readers,
                        .transformers = transformers,
                        .queue_batches = 8}};
    std::int64_t samples = 0;
    const std::int64_t begin = base::now_ns();
    for (std::int64_t step = 0; step < input.steps(); ++step) samples += loader.next().samples;
    const double rate = mb_per_s(input.bytes(), begin);
    if (samples != input.steps() * batch) base::fail("samples are missing");
    return rate;
}

testing::BenchRows& rows()
{
    static testing::BenchRows all{"loader-bench"};
    return all;
}

void compare(const Input& input, int readers, int transformers, const testing::BenchRows::Case& of,
             const ReadRecord& by_hand, const std::optional<testing::Aim>& aim = {})
{
    const testing::Paired found = testing::measure_in_pairs(
        pairs, [&] { return load(input, readers, transformers); }, [&] { return loop(input, by_hand); });
    rows().add({.name = of.name, .beside = of.beside, .unit = "MB/s"}, found, aim);
}

constexpr const char* same_loop = "a loop that reads and converts the same";
constexpr const char* plain_loop = "a loop over a plain file";

// Images in a CIFAR-10 file, which a plain loop can read, and the same images in other formats.
struct Images {
    testing::Scratch scratch;
    std::string made = "synthetic[samples=" + std::to_string(input_bytes / 3073) + "]";
    Input flat = input_of("cifar10", made, scratch / "data");
    std::string path = ddl::data_set(made, scratch / "data").train;
    ReadRecord plain = plain_file(path, 3073, 3073);

    Input as(const std::string& format) const
    {
        ddl::convert(made, format, scratch / format);
        return input_of(format, format + "[path=" + (scratch / format).string() + "]", "");
    }
};

void cifar10(const Images& images)
{
    compare(images.flat, 1, 0, {"cifar10, one reader", same_loop}, images.plain, testing::at_least(0.9));
    compare(images.flat, 2, 0, {"cifar10, two readers", same_loop}, images.plain);
    compare(images.flat, 1, 1, {"cifar10, one reader and a transform thread", same_loop}, images.plain);
}

void mnist(const Images& images)
{
    compare(images.as("mnist"), 1, 0, {"mnist", same_loop}, images.plain);
}

void shards(const Images& images)
{
    const Input input = images.as("shards");
    compare(input, 1, 0, {"shards, a CRC for each record", "a loop with the same checksums"},
            shard(images.scratch / "shards/train-00000.bin", 3073));
    compare(input, 1, 0, {"shards, a CRC for each record, beside a plain file", plain_loop}, images.plain);
}

void hdf5(const Images& images)
{
    const Input input = images.as("hdf5");
    compare(input, 1, 0, {"hdf5 as `ddl-data` writes it, in chunks with checksums", "a loop of the library's reads"},
            hdf5_file(images.scratch / "hdf5"));
    compare(input, 1, 0, {"hdf5 as `ddl-data` writes it, beside a plain file", plain_loop}, images.plain);
}

void text(const Images& images)
{
    const std::string copy = images.scratch / "text";
    std::filesystem::copy(images.path, copy);
    compare(input_of("text of 1024 bytes", "text[path=" + copy + ",length=1024]", ""), 1, 0,
            {"text of 1,024 bytes", same_loop}, plain_file(copy, 1025, 1024));
}

}  // namespace

int main(int argc, char** argv)
try {
    std::vector<std::pair<std::string, void (*)(const Images&)>> parts{
        {"cifar10", cifar10}, {"mnist", mnist}, {"shards", shards}, {"hdf5", hdf5}, {"text", text}};
    base::Options options{"loader-bench",
                          "the input pipeline against hand-written loops over the same bytes, alternating"};
    options.add_parts("format", parts);
    if (!options.parse(argc, argv)) return 0;
    const Images images;
    for (const auto& [name, measure] : parts) measure(images);
} catch (...) {
    return base::report_failure("loader-bench");
}
