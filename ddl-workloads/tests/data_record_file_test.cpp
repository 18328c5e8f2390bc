// SPDX-License-Identifier: Apache-2.0
// Record files: the CIFAR-10 binary format, and refusal of invalid files.
#include "base/error.hpp"
#include "base/files.hpp"
#include "ddl-workloads/data/record_file.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using Record = std::vector<std::uint8_t>;

// A record has 1 label byte and 4 pixels.
constexpr ddl::SampleShape four_pixels{.channels = 1, .height = 2, .width = 2, .classes = 10};

std::string message_of(const auto& action)
{
    try {
        action();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

void write(const std::filesystem::path& path, const ddl::SampleShape& shape, const std::vector<Record>& records)
{
    ddl::RecordFileWriter writer{path, shape};
    for (const Record& record : records) writer.write(record);
    writer.finish();
}

// Share of a file's pages that are in the page cache.
double cached_share(const std::filesystem::path& path)
{
    const auto bytes = static_cast<std::size_t>(std::filesystem::file_size(path));
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> resident((bytes + page - 1) / page);
    const int file = base::check_errno(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open ", path.string());
    void* mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
    const int code = ::mincore(mapped, bytes, resident.data());
    ::munmap(mapped, bytes);
    ::close(file);
    REQUIRE(code == 0);
    double cached = 0.0;
    for (const unsigned char state : resident) cached += state & 1U;
    return cached / static_cast<double>(resident.size());
}

}  // namespace

TEST_CASE("records come back as they were written")
{
    const testing::Scratch scratch;
    write(scratch / "a.bin", four_pixels, {{3, 1, 2, 3, 4}, {9, 255, 0, 255, 0}});

    const ddl::RecordFile file{scratch / "a.bin", four_pixels};
    CHECK(file.records() == 2);
    Record record(5);
    file.read(1, record);
    CHECK(record == Record{9, 255, 0, 255, 0});
    file.read(0, record);
    CHECK(record == Record{3, 1, 2, 3, 4});
}

TEST_CASE("the form on disk is that of CIFAR-10: 3073 bytes a record with the label first")
{
    const testing::Scratch scratch;
    Record red(3073, 0);
    red[0] = 7;
    std::fill(red.begin() + 1, red.begin() + 1 + 1024, std::uint8_t{255});  // pixels are stored as planes, red first
    write(scratch / "a.bin", ddl::SampleShape{}, {red, red});

    const std::string bytes = base::read_whole(scratch / "a.bin");
    CHECK(bytes.size() == 2 * 3073);
    CHECK(bytes[0] == 7);
    CHECK(bytes[3073] == 7);
    CHECK(bytes[1024] == '\xff');
    CHECK(bytes[1025] == 0);
}

TEST_CASE("a label that is no class is refused with file and byte")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "bad.bin", std::string{"\x01....\x0a....", 10});

    const ddl::RecordFile file{scratch / "bad.bin", four_pixels};
    Record record(5);
    file.read(0, record);
    CHECK(message_of([&] { file.read(1, record); }) ==
          (scratch / "bad.bin").string() + ", byte 5: label 10 is not a class; there are 10");
}

TEST_CASE("a file that was cut off is refused when it is opened")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "cut.bin", "1234567");
    CHECK(message_of([&] { ddl::RecordFile(scratch / "cut.bin", four_pixels); }) ==
          (scratch / "cut.bin").string() +
              " is cut off or not a record file: 7 bytes are not one or more records of 5");
    base::write_whole(scratch / "empty.bin", "");
    CHECK_THROWS_AS(ddl::RecordFile(scratch / "empty.bin", four_pixels), base::Error);
}

TEST_CASE("a file that becomes shorter while it is read gives an error with file and byte")
{
    const testing::Scratch scratch;
    write(scratch / "a.bin", four_pixels, {{1, 1, 1, 1, 1}, {2, 2, 2, 2, 2}});
    const ddl::RecordFile file{scratch / "a.bin", four_pixels};
    std::filesystem::resize_file(scratch / "a.bin", 7);

    Record record(5);
    CHECK(message_of([&] { file.read(1, record); }) ==
          (scratch / "a.bin").string() + " ends at byte 7, inside record 1");
}

TEST_CASE("a missing record file and a folder in its place are refused")
{
    const testing::Scratch scratch;
    CHECK_THROWS_AS(ddl::RecordFile(scratch / "none.bin", four_pixels), std::system_error);
    CHECK_THROWS_AS(ddl::RecordFile(scratch.path(), four_pixels), base::Error);
}

TEST_CASE("shapes that fit no record file are refused")
{
    const testing::Scratch scratch;
    CHECK_THROWS_AS(ddl::RecordFileWriter(scratch / "a.bin", ddl::SampleShape{.classes = 257}), base::UsageError);
    CHECK_THROWS_AS(ddl::RecordFileWriter(scratch / "a.bin", ddl::SampleShape{.height = 0}), base::UsageError);
}

TEST_CASE("a record file appears only when it is complete")
{
    const testing::Scratch scratch;
    {
        ddl::RecordFileWriter writer{scratch / "a.bin", four_pixels};
        writer.write(Record{1, 1, 1, 1, 1});
        CHECK_THROWS_AS(writer.write(Record{10, 1, 1, 1, 1}), base::Error);
        CHECK_THROWS_AS(writer.write(Record{1, 1}), base::Error);
    }
    CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("read past the page cache every record is the same")
{
    const testing::Scratch scratch;
    std::vector<Record> records;
    for (int number = 0; number < 10; ++number) {
        records.emplace_back(3073);
        for (std::size_t at = 1; at < 3073; ++at) records.back()[at] = static_cast<std::uint8_t>(at * 7 + at / 256);
        records.back()[0] = static_cast<std::uint8_t>(number);
    }
    write(scratch / "a.bin", ddl::SampleShape{}, records);
    for (const ddl::Access access : {ddl::Access::uncached, ddl::Access::direct}) {
        const ddl::RecordFile file{scratch / "a.bin", ddl::SampleShape{}, {.access = access}};
        Record record(3073);
        for (std::size_t number = 0; number < records.size(); ++number) {
            file.read(static_cast<std::int64_t>(number), record);
            CHECK(record == records[number]);
        }
    }
}

TEST_CASE("of a file that was cut off the whole records can be read")
{
    const testing::Scratch scratch;
    base::write_whole(scratch / "cut.bin", std::string{"\x01....\x02..", 8});
    const ddl::RecordFile file{scratch / "cut.bin", four_pixels, {.skip_corrupt = true}};
    CHECK(file.records() == 1);
    CHECK(file.faults().size() == 1);
}

TEST_CASE("read uncached a record file leaves no page in the page cache")
{
    const testing::Scratch scratch;
    write(scratch / "a.bin", ddl::SampleShape{}, std::vector<Record>(40, Record(3073, 1)));
    const auto cached_after_reading = [&](const ddl::RecordFile& file) {
        Record record(3073);
        for (std::int64_t number = 0; number < file.records(); ++number) file.read(number, record);
        return cached_share(scratch / "a.bin");
    };
    if (cached_after_reading({scratch / "a.bin", ddl::SampleShape{}}) < 1.0)
        return testing::skip("this file system's page cache cannot be seen");
    for (const ddl::Access access : {ddl::Access::uncached, ddl::Access::direct}) {
        const ddl::RecordFile file{scratch / "a.bin", ddl::SampleShape{}, {.access = access}};
        if (!file.past_page_cache()) return testing::skip("the scratch directory lives in memory");
        CHECK(cached_after_reading(file) == 0.0);
    }
}
