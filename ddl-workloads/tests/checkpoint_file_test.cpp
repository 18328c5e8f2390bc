// SPDX-License-Identifier: Apache-2.0
// A checkpoint's files: what was written can be read, and errors name what is damaged.
#include "base/error.hpp"
#include "base/files.hpp"
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"
#include "ddl-workloads/checkpoint/checkpoint_store.hpp"
#include "ddl-workloads/checkpoint/checkpoint_writer.hpp"
#include "ddl-workloads/data/hdf5.hpp"
#include "testing/checkpoint_formats.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>

namespace {

namespace fs = std::filesystem;

// Numbers of every type and tensors of every supported shape.
struct State {
    std::vector<float> weight = std::vector<float>(24);
    std::vector<double> doubles{1.5, -2.5};
    std::vector<std::int32_t> small{7};
    std::int64_t steps = 42;
    std::vector<std::uint8_t> random = std::vector<std::uint8_t>(100, 3);

    State() { std::iota(weight.begin(), weight.end(), 0.25F); }

    std::vector<ddl::StateTensor> tensors()
    {
        using ddl::ElementType;
        return {
            {"model/layers.0.weight", ElementType::float32, {2, 3, 4}, std::as_writable_bytes(std::span{weight})},
            {"model/layers.0.mean",
             ElementType::float64,
             {2},
             std::as_writable_bytes(std::span{doubles}),
             ddl::Owner::rank0},
            {"optimizer/count/layers.0.weight", ElementType::int32, {1}, std::as_writable_bytes(std::span{small})},
            {"optimizer/step/layers.0.weight", ElementType::int64, {}, std::as_writable_bytes(std::span{&steps, 1})},
            {"meta/random", ElementType::uint8, {100}, std::as_writable_bytes(std::span{random})}};
    }

    void forget()
    {
        for (const ddl::StateTensor& tensor : tensors()) std::memset(tensor.bytes.data(), 0xff, tensor.bytes.size());
    }

    bool operator==(const State&) const = default;
};

const ddl::CheckpointMeta meta{.step = 120,
                               .steps_per_epoch = 50,
                               .seed = 9,
                               .batch = 8,
                               .ranks = 2,
                               .model = "mlp[hidden=4]",
                               .data = "digits",
                               .strategy = "ddp",
                               .optimizer = "adamw",
                               .rates = "--lr 0.001"};

const ddl::CheckpointFormat& hdf5 = *ddl::checkpoint_formats().cards().front();

fs::path written(const fs::path& checkpoint, const ddl::CheckpointFormat& format = hdf5)
{
    fs::create_directories(checkpoint);
    State state;
    ddl::write_whole_checkpoint(checkpoint, meta, state.tensors(), {.format = &format, .durable = false});
    return checkpoint;
}

// Writes a checkpoint with two shards and its index.
fs::path written_in_shards(const fs::path& checkpoint, std::int64_t step = 120,
                           const ddl::CheckpointFormat& format = hdf5)
{
    fs::create_directories(checkpoint);
    State state;
    ddl::CheckpointMeta sharded = meta;
    sharded.shards = 2;
    sharded.step = step;
    const std::vector<ddl::StateTensor> all = state.tensors();
    const ddl::WriteHow how{.format = &format, .durable = false};
    ddl::write_shard(checkpoint, sharded, 0, std::span{all}.first(2), how);
    ddl::write_shard(checkpoint, sharded, 1, std::span{all}.subspan(2), how);
    ddl::write_index(checkpoint, sharded, {{all[0].path, all[1].path}, {all[2].path, all[3].path, all[4].path}}, how);
    return checkpoint;
}

// Offset of these bytes in the file.
std::size_t place_of(const fs::path& file, std::span<const std::byte> bytes)
{
    const std::string content = base::read_whole(file);
    const std::size_t place = content.find(std::string{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    REQUIRE(place != std::string::npos);
    return place;
}

void flip_bit(const fs::path& file, std::size_t place)
{
    std::string content = base::read_whole(file);
    content.at(place) = static_cast<char>(content[place] ^ 4);
    base::write_whole(file, content);
}

std::string complaint(const fs::path& checkpoint)
{
    try {
        ddl::CheckpointReader{checkpoint}.verify();
    } catch (const base::Error& error) {
        return error.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what is written into a checkpoint is read from it, from one file and from shards, in every format")
{
    const testing::Scratch scratch;
    std::vector<fs::path> all;
    for (const ddl::CheckpointFormat* format : testing::own_formats()) {
        all.push_back(written(scratch / (format->name + ".whole"), *format));
        all.push_back(written_in_shards(scratch / (format->name + ".sharded"), 120, *format));
    }
    for (const fs::path& checkpoint : all) {
        INFO(checkpoint.string());
        const ddl::CheckpointReader reader{checkpoint};
        CHECK(reader.meta().step == 120);
        CHECK(reader.meta().seed == 9);
        CHECK(reader.meta().model == "mlp[hidden=4]");
        CHECK(reader.meta().optimizer == "adamw");
        CHECK(reader.meta().rates == "--lr 0.001");
        reader.verify();
        State state;
        state.forget();
        reader.read(state.tensors(), 0);
        CHECK(state == State{});
    }
}

TEST_CASE("the index of shards leads to every tensor")
{
    const testing::Scratch scratch;
    const fs::path checkpoint = written_in_shards(scratch / "sharded");
    const ddl::hdf5::File file{H5Fopen((checkpoint / "checkpoint.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)};
    for (const ddl::StateTensor& tensor : State{}.tensors())
        CHECK(ddl::hdf5::DataSet{H5Dopen2(file.get(), tensor.path.c_str(), H5P_DEFAULT)}.get() >= 0);
}

TEST_CASE("a tensor that several ranks wrote is each rank's own again")
{
    const testing::Scratch scratch;
    ddl::CheckpointMeta sharded = meta;
    sharded.shards = 2;
    fs::create_directories(scratch / "step");
    State first;
    State second;
    second.weight[5] = 99.0F;
    ddl::write_shard(scratch / "step", sharded, 0, first.tensors(), {.durable = false});
    ddl::write_shard(scratch / "step", sharded, 1, second.tensors(), {.durable = false});
    ddl::write_index(scratch / "step", sharded, {{}, {}}, {.durable = false});
    const ddl::CheckpointReader reader{scratch / "step"};
    State state;
    reader.read(state.tensors(), 1);
    CHECK(state == second);
    reader.read(state.tensors(), 0);
    CHECK(state == first);
}

TEST_CASE("damage is reported by the file's name and the tensor's")
{
    const testing::Scratch scratch;
    State state;
    const fs::path flipped = written(scratch / "flipped");
    flip_bit(flipped / "checkpoint.h5", place_of(flipped / "checkpoint.h5", state.tensors()[0].bytes) + 30);
    CHECK(contains(complaint(flipped), "checkpoint.h5: /model/layers.0.weight: is damaged: its CRC-32C is "));

    const fs::path shard = written_in_shards(scratch / "shard");
    flip_bit(shard / "shard-1.h5", place_of(shard / "shard-1.h5", state.tensors()[4].bytes));
    CHECK(contains(complaint(shard), "shard-1.h5: /meta/random: is damaged"));

    const fs::path cut = written(scratch / "cut");
    fs::resize_file(cut / "checkpoint.h5", fs::file_size(cut / "checkpoint.h5") - 100);
    CHECK(contains(complaint(cut), "checkpoint.h5 is damaged or cut off"));

    const fs::path missing = written_in_shards(scratch / "missing");
    fs::remove(missing / "shard-1.h5");
    CHECK(contains(complaint(missing), "cannot open " + (missing / "shard-1.h5").string()));

    const fs::path mixed = written_in_shards(scratch / "mixed");
    const fs::path other = written_in_shards(scratch / "other", 240);
    fs::copy(other / "shard-0.h5", mixed / "shard-0.h5", fs::copy_options::overwrite_existing);
    CHECK(contains(complaint(mixed), "shard-0.h5 belongs to another checkpoint"));
    fs::copy(other / "shard-0.h5", mixed / "shard-1.h5", fs::copy_options::overwrite_existing);
    fs::copy(other / "shard-1.h5", mixed / "shard-0.h5", fs::copy_options::overwrite_existing);
    CHECK(contains(complaint(mixed), "shard-0.h5: was written under another name"));

    fs::create_directories(scratch / "foreign");
    base::write_whole(scratch / "foreign/checkpoint.h5", "no HDF5 at all");
    CHECK(contains(complaint(scratch / "foreign"), "checkpoint.h5 is not a checkpoint of ddl-train"));
    base::write_whole(scratch / "foreign/checkpoint.h5", "");
    CHECK(contains(complaint(scratch / "foreign"), "checkpoint.h5 is not a checkpoint of ddl-train"));
    fs::create_directories(scratch / "pipe");
    REQUIRE(::mkfifo((scratch / "pipe/checkpoint.h5").c_str(), 0600) == 0);
    CHECK(contains(complaint(scratch / "pipe"), "checkpoint.h5 is not a regular file"));
    for (const bool checked : {false, true}) {
        const ddl::hdf5::Properties access{H5Pcreate(H5P_FILE_ACCESS)};
        if (checked) H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST);
        ddl::hdf5::File{
            H5Fcreate((scratch / "foreign/checkpoint.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get())};
        CHECK(contains(complaint(scratch / "foreign"), "checkpoint.h5"));
    }
}

TEST_CASE("a tensor that the model has otherwise, or that is not there, is refused")
{
    const testing::Scratch scratch;
    const fs::path checkpoint = written(scratch / "whole");
    const ddl::CheckpointReader reader{checkpoint};
    State state;
    const auto complaint_of = [&](ddl::StateTensor tensor) -> std::string {
        try {
            reader.read(std::span{&tensor, 1}, 0);
        } catch (const base::Error& error) {
            return error.what();
        }
        return "";
    };
    ddl::StateTensor tensor = state.tensors()[0];
    tensor.shape = {4, 3, 2};
    CHECK(contains(complaint_of(tensor), "/model/layers.0.weight: its shape differs from the model's"));
    tensor = state.tensors()[0];
    tensor.type = ddl::ElementType::int32;
    CHECK(contains(complaint_of(tensor), "/model/layers.0.weight: its element type differs from the model's"));
    tensor.path = "model/layers.1.weight";
    CHECK(contains(complaint_of(tensor), "checkpoint.h5: there is no /model/layers.1.weight"));
}

namespace {

void change_bytes(const ddl::CheckpointFormat& format)
{
    INFO(format.name);
    const testing::Scratch scratch;
    const fs::path file = ddl::checkpoint_file(written(scratch / "step", format), format);
    const std::string content = base::read_whole(file);
    std::size_t refused = 0;
    for (std::size_t place = 0; place < content.size(); place += 29) {
        INFO("byte ", place);
        std::string changed = content;
        changed[place] = static_cast<char>(changed[place] ^ 0x55);
        base::write_whole(file, changed);
        State state;
        state.forget();
        try {
            const ddl::CheckpointReader reader{scratch / "step"};
            reader.verify();
            reader.read(state.tensors(), 0);
            CHECK(state == State{});
        } catch (const base::Error&) {
            ++refused;
        }
    }
    CHECK(refused > content.size() / 29 / 4);
}

}  // namespace

TEST_CASE("a byte changed anywhere in a checkpoint is refused or does no harm, in every format")
{
    for (const ddl::CheckpointFormat* format : testing::own_formats()) change_bytes(*format);
}

TEST_CASE("compressed tensors in a checkpoint are smaller and read back")
{
    const testing::Scratch scratch;
    std::vector<float> numbers(3 * 500 * 1000, 0.5F);
    numbers.back() = 1.0F;
    const std::vector<ddl::StateTensor> tensors{
        {"model/weight", ddl::ElementType::float32, {3, 500, 1000}, std::as_writable_bytes(std::span{numbers})}};
    ddl::write_whole_checkpoint(scratch.path(), meta, tensors, {.durable = false, .gzip = 4});
    CHECK(fs::file_size(scratch / "checkpoint.h5") < numbers.size() * sizeof(float) / 10);
    const std::vector<float> before = std::exchange(numbers, std::vector<float>(numbers.size()));
    const std::vector<ddl::StateTensor> again{
        {"model/weight", ddl::ElementType::float32, {3, 500, 1000}, std::as_writable_bytes(std::span{numbers})}};
    ddl::CheckpointReader{scratch.path()}.read(again, 0);
    CHECK(numbers == before);
}

TEST_CASE("a raw checkpoint that is cut off, foreign or damaged is reported by the file's name and the tensor's")
{
    const testing::Scratch scratch;
    const ddl::CheckpointFormat& raw = ddl::checkpoint_formats().find("raw");
    State state;
    const fs::path flipped = ddl::checkpoint_file(written(scratch / "flipped", raw), raw);
    flip_bit(flipped, place_of(flipped, state.tensors()[0].bytes) + 30);
    CHECK(contains(complaint(scratch / "flipped"),
                   "checkpoint.safetensors: /model/layers.0.weight: is damaged: its CRC-32C"));

    const fs::path cut = ddl::checkpoint_file(written(scratch / "cut", raw), raw);
    fs::resize_file(cut, fs::file_size(cut) - 20);
    CHECK(contains(complaint(scratch / "cut"), "checkpoint.safetensors: is damaged: its CRC-32C"));
    for (const std::string& content : {std::string{}, std::string{"no"}, std::string(100, 'x')}) {
        base::write_whole(cut, content);
        CHECK(contains(complaint(scratch / "cut"), "checkpoint.safetensors: is not a checkpoint of ddl-train"));
    }
}

TEST_CASE("a write that fails half-way is reported, and HDF5 works on")
{
    const testing::Scratch scratch;
    fs::create_directories(scratch / "step");
    std::vector<float> numbers(1 << 20);
    const std::vector<ddl::StateTensor> tensors{
        {"model/weight", ddl::ElementType::float32, {1 << 20}, std::as_writable_bytes(std::span{numbers})}};
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    for (const rlim_t room : {0, 512, 100'000}) {
        rlimit little = before;
        little.rlim_cur = room;
        ::setrlimit(RLIMIT_FSIZE, &little);
        for (const ddl::CheckpointFormat* format : testing::own_formats())
            CHECK_THROWS_AS(ddl::write_whole_checkpoint(scratch / "step", meta, tensors, {.format = format}),
                            std::system_error);
        ::setrlimit(RLIMIT_FSIZE, &before);
    }
    for (const ddl::CheckpointFormat* format : testing::own_formats()) {
        fs::create_directories(scratch / format->name);
        ddl::write_whole_checkpoint(scratch / format->name, meta, tensors, {.format = format});
        CHECK(complaint(scratch / format->name).empty());
    }
}

TEST_CASE("a checkpoint appears whole, the newest are kept, and the first sound one is found")
{
    const testing::Scratch scratch;
    CHECK(ddl::checkpoints_in(scratch / "none").empty());
    for (const std::int64_t step : {5, 100, 20, 1'000'000'000}) {
        ddl::make_room(scratch.path(), step, 1000);
        written(ddl::growing_path(scratch.path(), step));
        ddl::publish(scratch.path(), step, true);
    }
    written(ddl::growing_path(scratch.path(), 2'000'000'000));
    ddl::keep_newest(scratch.path(), 3);
    const std::vector<fs::path> kept = ddl::checkpoints_in(scratch.path());
    CHECK(kept ==
          std::vector<fs::path>{scratch / "step-1000000000", scratch / "step-000000100", scratch / "step-000000020"});
    CHECK(ddl::first_sound(kept) == kept[0]);
    fs::resize_file(kept[0] / "checkpoint.h5", 1000);
    CHECK(ddl::first_sound(kept) == kept[1]);
    fs::remove(kept[1] / "checkpoint.h5");
    fs::remove(kept[2] / "checkpoint.h5");
    CHECK_THROWS_AS(ddl::first_sound(kept), base::Error);
    ddl::discard(scratch.path(), 2'000'000'000);
    CHECK_FALSE(fs::exists(scratch / "step-2000000000.tmp"));
    CHECK_THROWS_AS(ddl::make_room(scratch.path(), 7, INT64_MAX / 2), std::system_error);
}
