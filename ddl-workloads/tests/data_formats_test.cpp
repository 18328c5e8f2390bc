// SPDX-License-Identifier: Apache-2.0
// Formats: ddl-data writes them and they are read back; errors describe damaged files.
#include "base/error.hpp"
#include "base/files.hpp"
#include "ddl-workloads/data/conversion.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/hdf5.hpp"
#include "ddl-workloads/data/loading/loader.hpp"
#include "ddl-workloads/data/record_file.hpp"
#include "testing/bytes_in_file.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>

namespace fs = std::filesystem;
using testing::put;

namespace {

constexpr auto small_images = "synthetic[samples=60,classes=3,channels=3,height=4,width=5]";
constexpr auto small_clicks = "clicks[samples=60,dense=3,categories=2,rows=50]";

// Writes the data set `text` in that format; returns the name under which it can be read.
std::string written(const std::string& text, const std::string& format, const fs::path& path)
{
    ddl::convert(text, format, path);
    std::string options = "[path=" + path.string();
    if (format == "cifar10") options += ",channels=3,height=4,width=5,classes=3";
    if (format == "mnist") options += ",classes=3";
    return format + options + "]";
}

std::vector<ddl::Batch> batches_of(const std::string& text, const fs::path& folder, ddl::Part part)
{
    const ddl::DataSet set = ddl::data_set(text, folder);
    ddl::write_data_set(set);
    ddl::Loader loader{{.records = ddl::open_part(set, part), .sampling = {.batch = 4}, .readers = 2}};
    std::vector<ddl::Batch> batches;
    for (int batch = 0; batch < 30; ++batch) batches.push_back(loader.next());
    return batches;
}

void check_equal(const std::vector<ddl::Batch>& some, const std::vector<ddl::Batch>& others)
{
    REQUIRE(some.size() == others.size());
    for (std::size_t at = 0; at < some.size(); ++at) {
        CHECK(some[at].labels == others[at].labels);
        CHECK(some[at].images == others[at].images);
        CHECK(some[at].tokens == others[at].tokens);
    }
}

void check_same_in(const std::string& text, const std::vector<std::string>& formats)
{
    const testing::Scratch scratch;
    for (const std::string& format : formats) {
        INFO(format);
        const std::string copy = written(text, format, scratch / format);
        for (const ddl::Part part : {ddl::Part::train, ddl::Part::held_out})
            check_equal(batches_of(copy, scratch / "data", part), batches_of(text, scratch / "data", part));
    }
}

std::string message_of(const std::function<void()>& action)
{
    try {
        action();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

// The first error from opening and reading the whole data set, without the path of the scratch directory; empty: none.
std::string complaint(const std::string& text, const testing::Scratch& scratch)
{
    std::string what = message_of([&] {
        const ddl::DataSet set = ddl::data_set(text, scratch / "data");
        for (const ddl::Part part : {ddl::Part::train, ddl::Part::held_out}) {
            const auto records = ddl::open_part(set, part);
            ddl::read_in_order(*records, 0, records->records());
        }
    });
    CHECK(what.find('\n') == std::string::npos);
    const std::string folder = scratch.path().string() + "/";
    if (const std::size_t at = what.find(folder); at != std::string::npos) what.erase(at, folder.size());
    return what;
}

// Number of records left out if corrupt records are skipped.
std::size_t skipped(const std::string& text, const testing::Scratch& scratch)
{
    const ddl::DataSet set = ddl::data_set(text, scratch / "data");
    const auto records = ddl::open_part(set, ddl::Part::train, {.skip_corrupt = true});
    return records->faults().size() + ddl::read_in_order(*records, 0, records->records(), true).skipped.size();
}

using Pixels = std::array<std::uint8_t, 40>;

// An HDF5 file as other programs write it, with images and labels in the root: ten images of 2 x 2 pixels of type
// `pixel`, and labels 0 to 9.
std::string written_by_others(const fs::path& path, hid_t pixel, const Pixels& pixels)
{
    const ddl::hdf5::Lock lock;
    const ddl::hdf5::File file{H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)};
    const std::array<hsize_t, 3> sizes{10, 2, 2};
    const std::array<std::int32_t, 10> labels{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const auto write = [&](const char* name, int rank, hid_t type, const void* data) {
        const ddl::hdf5::Space space{H5Screate_simple(rank, sizes.data(), nullptr)};
        const ddl::hdf5::DataSet set{
            H5Dcreate2(file.get(), name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)};
        H5Dwrite(set.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    };
    write("images", 3, pixel, pixels.data());
    write("labels", 1, H5T_NATIVE_INT32, labels.data());
    return "hdf5[path=" + path.string() + "]";
}

struct Damage {
    std::string format;
    std::function<void(const fs::path&)> make;  // damages the data set in this file or folder
    std::string complaint;
    std::size_t skipped = 0;  // number of records skipped; 0: the data set cannot be read at all
};

}  // namespace

TEST_CASE("images are the same batches in every format")
{
    check_same_in(small_images, {"cifar10", "mnist", "shards", "hdf5"});
}

TEST_CASE("clicks and text are the same batches in every format that holds them")
{
    check_same_in(small_clicks, {"shards", "hdf5"});
    const testing::Scratch scratch;
    std::string text;
    for (int at = 0; at < 2000; ++at) text += static_cast<char>(at * at % 251);
    base::write_whole(scratch / "a.txt", text);
    check_same_in("text[path=" + (scratch / "a.txt").string() + ",length=16]", {"shards", "hdf5"});
}

TEST_CASE("a format that cannot hold the samples is refused and an old data set is left alone")
{
    const testing::Scratch scratch;
    CHECK_THROWS_AS(ddl::convert(small_clicks, "cifar10", scratch / "a"), base::UsageError);
    CHECK_THROWS_AS(ddl::convert(small_clicks, "mnist", scratch / "b"), base::UsageError);
    CHECK_THROWS_AS(ddl::convert(small_clicks, "text", scratch / "c"), base::UsageError);
    ddl::convert(small_images, "shards", scratch / "d");
    CHECK_THROWS_AS(ddl::convert(small_images, "shards", scratch / "d"), base::UsageError);
    CHECK_THROWS_AS(
        ddl::convert("synthetic[samples=1000000000,channels=16,height=4096,width=4096]", "hdf5", scratch / "large.h5"),
        base::Error);
    CHECK_FALSE(fs::exists(scratch / "large.h5"));
}

TEST_CASE("a data set is recognised by what lies there")
{
    const testing::Scratch scratch;
    for (const std::string& format : ddl::formats()) {
        ddl::convert(small_images, format, scratch / format);
        CHECK(ddl::recognise(scratch / format).starts_with(format + "["));
    }
    base::write_whole(scratch / "a.txt", "In the beginning");
    CHECK(ddl::recognise(scratch / "a.txt").starts_with("text["));
    fs::create_directory(scratch / "empty");
    CHECK_THROWS_AS(ddl::recognise(scratch / "empty"), base::Error);
    CHECK_THROWS_AS(ddl::recognise(scratch / "none"), base::Error);
}

TEST_CASE("a file without parts is read with every fifth image held out")
{
    const testing::Scratch scratch;
    ddl::convert(small_images, "cifar10", scratch / "a");
    ddl::convert(small_images, "mnist", scratch / "b");
    const auto labels = [&](const std::string& text, ddl::Part part) {
        const auto records = ddl::open_part(ddl::data_set(text, {}), part);
        return ddl::read_in_order(*records, 0, 100).labels;
    };
    const std::string cifar10 =
        "cifar10[path=" + (scratch / "a/data_batch_1.bin").string() + ",height=4,width=5,classes=3]";
    const std::string mnist = "mnist[path=" + (scratch / "b/train-images-idx4-ubyte").string() + "]";
    for (const std::string& text : {cifar10, mnist}) {
        CHECK(labels(text, ddl::Part::train).size() == 39);
        CHECK(labels(text, ddl::Part::held_out).size() == 9);
        CHECK(labels(text, ddl::Part::train) == labels(cifar10, ddl::Part::train));
    }
}

TEST_CASE("images and labels in the root of an HDF5 file are read as they are")
{
    const testing::Scratch scratch;
    Pixels pixels{};
    for (std::size_t at = 0; at < pixels.size(); ++at) pixels[at] = static_cast<std::uint8_t>(at);
    const std::string text = written_by_others(scratch / "a.h5", H5T_STD_U8LE, pixels);
    const ddl::DataSet set = ddl::data_set(text, {});
    CHECK(set.shape == ddl::SampleShape{.channels = 1, .height = 2, .width = 2});
    const auto train = ddl::open_part(set, ddl::Part::train);
    CHECK(ddl::read_in_order(*train, 0, 10).labels == std::vector<std::int64_t>{0, 1, 2, 3, 5, 6, 7, 8});
    std::vector<std::uint8_t> record(5);
    train->read(4, record);
    CHECK(record == std::vector<std::uint8_t>{5, 20, 21, 22, 23});
}

TEST_CASE("bytes with a sign, and bytes of other files, are not images of an HDF5 file")
{
    const testing::Scratch scratch;
    CHECK(complaint(written_by_others(scratch / "a.h5", H5T_STD_I8LE, Pixels{}), scratch) ==
          "a.h5, /images: signed bytes instead of unsigned");
    base::write_whole(scratch / "elsewhere", std::string(40, 'x'));
    {
        const ddl::hdf5::Lock lock;
        const ddl::hdf5::File file{H5Fcreate((scratch / "b.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)};
        const ddl::hdf5::Properties outside{H5Pcreate(H5P_DATASET_CREATE)};
        H5Pset_external(outside.get(), (scratch / "elsewhere").c_str(), 0, 40);
        const std::array<hsize_t, 3> sizes{10, 2, 2};
        const ddl::hdf5::Space space{H5Screate_simple(3, sizes.data(), nullptr)};
        const ddl::hdf5::DataSet set{
            H5Dcreate2(file.get(), "images", H5T_STD_U8LE, space.get(), H5P_DEFAULT, outside.get(), H5P_DEFAULT)};
        REQUIRE(set.valid());
    }
    CHECK(complaint("hdf5[path=" + (scratch / "b.h5").string() + "]", scratch) ==
          "b.h5, /images: external storage is not supported");
}

TEST_CASE("damage is reported with file and place and skipped where the rest is sound")
{
    const auto cut = [](const std::string& file, std::uintmax_t bytes) {
        return [=](const fs::path& path) { fs::resize_file(path / file, bytes); };
    };
    const auto overwrite = [](const std::string& file, std::int64_t at, const std::string& bytes) {
        return [=](const fs::path& path) { put(file.empty() ? path : path / file, at, bytes); };
    };
    const auto remove = [](const std::string& file) { return [=](const fs::path& path) { fs::remove(path / file); }; };
    const std::string images = "train-images-idx4-ubyte";
    const std::string labels = "train-labels-idx1-ubyte";
    const std::string shard = "train-00000.bin";
    // The training part has 48 records of 61 bytes; records in shards have 65 bytes.
    const std::vector<Damage> table{
        {"cifar10", overwrite("data_batch_1.bin", 61, "\x09"),
         "set/data_batch_1.bin, byte 61: label 9 is not a class; there are 3", 1},
        {"cifar10", cut("data_batch_1.bin", 1000),
         "set/data_batch_1.bin is cut off or not a record file: 1000 bytes are not one or more records of 61", 1},
        {"cifar10", cut("data_batch_1.bin", 0),
         "set/data_batch_1.bin is cut off or not a record file: 0 bytes are not one or more records of 61"},
        {"cifar10", remove("data_batch_1.bin"), "set is not a CIFAR-10 folder: it has no data_batch_*.bin"},
        {"cifar10", remove("test_batch.bin"), "cannot open set/test_batch.bin: No such file or directory", 0},
        {"mnist", overwrite(labels, 10, "\x07"), "set/" + labels + ", byte 10: label 7 is not a class; there are 3", 1},
        {"mnist", overwrite(images, 2, "\x0b"),
         "set/" + images +
             " is not an IDX file of bytes: it does not begin with 0 0 8 and a number of dimensions 1 to 4"},
        {"mnist", overwrite(images, 4, "\xff\xff\xff\xff"),
         "set/" + images + " is cut off: its header says 4294967295 images, but it ends at byte 2900 inside image 48",
         2},
        {"mnist", overwrite(images, 8, "\xff\xff\xff\xff"),
         "set/" + images + ": images of 4294967295x4x5 are not images"},
        {"mnist", overwrite(images, 12, std::string(4, '\0')), "set/" + images + ", byte 12: a dimension of size 0"},
        {"mnist", cut(images, 1000),
         "set/" + images + " is cut off: its header says 48 images, but it ends at byte 1000 inside image 16", 1},
        {"mnist", overwrite(images, 2900, "more"),
         "set/" + images + " should end at byte 2900 by its header, but has 2904 bytes"},
        {"mnist", cut(labels, 20), "set/" + labels + " is cut off: its header says 48 labels, but it ends at byte 20",
         1},
        {"mnist", cut(labels, 6), "set/" + labels + " ends at byte 6, inside the header"},
        {"mnist", remove(labels), "cannot open set/" + labels + ": No such file or directory"},
        {"mnist", remove(images), "set is not an MNIST folder: it has no train-images-idx3-ubyte"},
        {"shards", overwrite(shard, 70, "\xff"), "set/" + shard + ", byte 65: record 1 does not match its checksum", 1},
        {"shards", cut(shard, 640),
         "set/" + shard +
             " is cut off, or not the file of the index: 640 bytes instead of the index's 48 records of 65",
         1},
        {"shards", remove(shard), "cannot open set/" + shard + ": No such file or directory"},
        {"shards", cut("index.json", 30), "set/index.json is not an index of shards: "},
        {"shards", remove("index.json"), "cannot read set/index.json"},
        {"hdf5", overwrite("", 0, "nothing"), "set is not an HDF5 file, or is cut off (HDF5: "},
        {"hdf5", [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); },
         "set is not an HDF5 file, or is cut off (HDF5: "},
    };
    for (const Damage& damage : table) {
        const testing::Scratch scratch;
        const std::string text = written(small_images, damage.format, scratch / "set");
        CHECK(complaint(text, scratch) == "");
        damage.make(scratch / "set");
        CAPTURE(damage.complaint);
        CHECK(complaint(text, scratch).substr(0, damage.complaint.size()) == damage.complaint);
        if (damage.skipped > 0) CHECK(skipped(text, scratch) == damage.skipped);
    }
}

TEST_CASE("a flipped bit in an HDF5 chunk is one corrupt record")
{
    const testing::Scratch scratch;
    const std::string text = written("synthetic[samples=20,classes=2]", "hdf5", scratch / "a.h5");
    const ddl::DataSet original = ddl::data_set("synthetic[samples=20,classes=2]", scratch / "data");
    ddl::write_data_set(original);
    const std::string bytes = base::read_whole(scratch / "a.h5");
    const std::string record = base::read_whole(original.train).substr(3 * 3073 + 1, 3072);
    const std::size_t at = bytes.find(record);
    REQUIRE(at != std::string::npos);
    put(scratch / "a.h5", static_cast<std::int64_t>(at) + 100, "\xff\x01");
    CHECK(complaint(text, scratch)
              .starts_with("a.h5, /train/images, number 3, in the 3076 bytes from byte " + std::to_string(at) +
                           ": cannot be read (HDF5: "));
    CHECK(skipped(text, scratch) == 1);
    const ddl::Findings findings = ddl::inspect(text);
    CHECK(findings.corrupt == 1);
    CHECK(findings.faults.size() == 1);
}

TEST_CASE("an index of shards that makes no sense is refused")
{
    const testing::Scratch scratch;
    const std::string text = "shards[path=" + scratch.path().string() + "]";
    const auto refusal = [&](const std::string& index) {
        base::write_whole(scratch / "index.json", index);
        return complaint(text, scratch);
    };
    const std::string head = R"({"format":"crosstalk shards","version":1,)";
    const std::string shape = R"("shape":{"kind":"text","length":8},)";
    CHECK(refusal("[]").starts_with("index.json is not an index of shards: "));
    CHECK(refusal("{}").starts_with("index.json is not an index of shards: "));
    CHECK(refusal(head + R"("shape":{"kind":"sound"}})") == "index.json: samples of kind 'sound' are not known");
    CHECK(refusal(head + R"("shape":{"kind":"text","length":-1}})")
              .starts_with("index.json: samples of text must be 1 to "));
    CHECK(refusal(head + shape + R"("train":[]})") == "index.json lists no files of part train");
    CHECK(refusal(head + shape + R"("train":[{"file":"../a","records":1}]})") ==
          "index.json: '../a' is not the name of a file in its folder");
    CHECK(refusal(head + shape + R"("train":[{"file":"a","records":-1}]})") == "index.json: -1 records in a");
    for (const std::string number : {"1.5", "18446744073709551615", "99999999999999999999", "\"7\""})
        CHECK(refusal(head + shape + R"("train":[{"file":"a","records":)" + number + "}]}")
                  .find(" is not a valid integer") != std::string::npos);
}

TEST_CASE("folders and empty files in the place of data sets are refused with one line")
{
    const testing::Scratch scratch;
    fs::create_directory(scratch / "empty");
    base::write_whole(scratch / "nothing", "");
    for (const std::string format : {"cifar10", "mnist", "shards", "hdf5", "text"})
        for (const std::string path : {"empty", "nothing", "none"}) {
            INFO(format, " ", path);
            CHECK(complaint(format + "[path=" + (scratch / path).string() + "]", scratch) != "");
        }
}
