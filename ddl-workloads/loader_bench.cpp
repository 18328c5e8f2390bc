// What the loader costs beside a loop written by hand that reads the same records in the same order from a warm page
// cache: bytes of input per second, in turns.
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/paired.hpp"
#include "base/testing.hpp"
#include "ddl-workloads/data/conversion.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/loader.hpp"
#include "ddl-workloads/data/record_file.hpp"

#include <algorithm>
#include <fstream>
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
    std::string plain_file;   // the same bytes for the loop by hand
    std::int64_t stride = 0;  // from sample to sample in it
    std::int64_t steps() const { return records->records() / batch; }
    std::int64_t bytes() const { return steps() * batch * records->shape().record_bytes(); }
};

// The next epoch every time: its order is new to both.
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

// Reads a batch into one vector and makes floats (of text: whole numbers) of it, as the loader does.
template <class Number, class Convert>
double loop(const Input& input, const Convert& convert)
{
    const int file = base::check_errno(::open(input.plain_file.c_str(), O_RDONLY | O_CLOEXEC), "open the input");
    const auto record_bytes = static_cast<std::size_t>(input.records->shape().record_bytes());
    std::vector<std::uint8_t> record(record_bytes);
    std::uint64_t sum = 0;
    const std::int64_t begin = base::now_ns();
    ddl::Sampler sampler{input.records->records(), {.batch = batch}};
    for (std::int64_t step = 0; step < input.steps(); ++step) {
        std::vector<Number> numbers(batch * record_bytes);
        auto to = numbers.begin();
        for (const std::int64_t number : sampler.batch(step)) {
            if (::pread(file, record.data(), record_bytes, number * input.stride) < 0) base::fail("cannot read");
            to = std::transform(record.begin(), record.end(), to, convert);
        }
        sum += static_cast<std::uint64_t>(numbers[1]);
    }
    const double rate = mb_per_s(input.bytes(), begin);
    ::close(file);
    if (sum == 1) std::cout << "";  // so that nothing is left out
    return rate;
}

double loop(const Input& input)
{
    if (input.records->shape().kind == ddl::SampleShape::Kind::text)
        return loop<std::int64_t>(input, [](std::uint8_t byte) { return std::int64_t{byte}; });
    return loop<float>(input, [](std::uint8_t byte) { return static_cast<float>(byte) / 127.5F - 1.0F; });
}

Input input_of(const std::string& name, const std::string& text, const std::string& folder, const std::string& plain,
               std::int64_t stride)
{
    const ddl::DataSet set = ddl::data_set(text, folder);
    ddl::write_data_set(set);
    return {.name = name,
            .records = ddl::open_part(set, ddl::Part::train),
            .plain_file = plain.empty() ? set.train.string() : plain,
            .stride = stride};
}

void compare(const Input& input, int readers, int transformers)
{
    const base::Paired result = base::measure_in_pairs(
        pairs, [&] { return load(input, readers, transformers); }, [&] { return loop(input); });
    std::cout << input.name << ", " << readers << " readers, " << transformers << " transform threads: loader "
              << result.first.text() << " MB/s, loop by hand " << result.second.text() << " MB/s, loader / loop "
              << result.ratio.text() << std::endl;
}

}  // namespace

int main()
try {
    const testing::Scratch scratch;
    const std::string samples = std::to_string(input_bytes / 3073);
    const std::string images = "synthetic[samples=" + samples + "]";
    const Input flat = input_of("cifar10", images, scratch / "data", "", 3073);
    compare(flat, 1, 0);
    compare(flat, 2, 0);
    compare(flat, 1, 1);
    for (const std::string format : {"mnist", "shards", "hdf5"}) {
        ddl::convert(images, format, scratch / format);
        compare(input_of(format, format + "[path=" + (scratch / format).string() + "]", "", flat.plain_file, 3073), 1,
                0);
    }
    const std::string text = scratch / "text";
    std::filesystem::copy(flat.plain_file, text);
    compare(input_of("text of 1024 bytes", "text[path=" + text + ",length=1024]", "", text, 1024), 1, 0);
} catch (...) {
    return base::report_failure("loader-bench");
}
