// Images on disk in the CIFAR-10 binary form: records of one label byte and channels x height x width pixel bytes,
// one after the other, no header (https://www.cs.toronto.edu/~kriz/cifar.html; there 3 x 32 x 32 and 10 classes).
#pragma once

#include "ddl-workloads/data/sample_shape.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace ddl {

// Reads records by number. Reading is thread-safe.
class RecordFile {
 public:
    // Throws std::system_error if it cannot be opened, Error if it is empty or no whole number of records.
    RecordFile(std::filesystem::path path, SampleShape shape);
    ~RecordFile();
    RecordFile(const RecordFile&) = delete;
    RecordFile& operator=(const RecordFile&) = delete;

    const SampleShape& shape() const { return shape_; }
    std::int64_t records() const { return records_; }

    // Label and pixels of one record into `record` (record_bytes() of them). Throws Error that names file and offset
    // for a label that is no class and for a file that has become shorter, std::system_error for what cannot be read.
    void read(std::int64_t number, std::span<std::uint8_t> record) const;

    // From here on no page of the file stays in the page cache after its reading, and none is read ahead: input comes
    // from the device. False where that is impossible because the file lives in memory (tmpfs).
    bool read_uncached();

 private:
    std::filesystem::path path_;
    SampleShape shape_;
    std::int64_t records_ = 0;
    bool uncached_ = false;
    int file_ = -1;
};

// Writes records one after the other into a file that appears by rename, on the device and complete, with finish().
class RecordFileWriter {
 public:
    RecordFileWriter(std::filesystem::path path, SampleShape shape);
    ~RecordFileWriter();  // without finish(): nothing stays
    RecordFileWriter(const RecordFileWriter&) = delete;
    RecordFileWriter& operator=(const RecordFileWriter&) = delete;

    // Throws Error for a record of another size or a label that is no class, std::system_error (a full disk).
    void write(std::span<const std::uint8_t> record);
    void finish();

 private:
    void flush();

    std::filesystem::path path_;
    std::filesystem::path unfinished_;
    SampleShape shape_;
    std::vector<std::uint8_t> buffer_;
    std::int64_t records_ = 0;
    int file_ = -1;
};

}  // namespace ddl
