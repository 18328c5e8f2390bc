// SPDX-License-Identifier: Apache-2.0
// Records by number, in any file format.
#pragma once

#include "base/error.hpp"
#include "ddl-workloads/data/sample_shape.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddl {

enum class Access {
    buffered,  // through the page cache
    uncached,  // through the page cache, but leaving no pages in it: input comes from the device
    direct     // bypassing the page cache (O_DIRECT)
};

struct Reading {
    Access access = Access::buffered;
    bool skip_corrupt = false;  // read the complete records of a truncated file; otherwise the file is refused
};

// The message names file and byte. Other records of the file may be intact.
struct CorruptRecord : base::Error {
    using Error::Error;
};

class Records {
 public:
    // Throws UsageError for an invalid shape.
    explicit Records(const SampleShape& shape);
    virtual ~Records() = default;
    Records(const Records&) = delete;
    Records& operator=(const Records&) = delete;

    const SampleShape& shape() const { return shape_; }
    std::int64_t records() const { return records_; }

    // Reads one record (shape().record_bytes()). Thread-safe. Throws CorruptRecord, or std::system_error if the read
    // fails.
    void read(std::int64_t number, std::span<std::uint8_t> record) const;

    // Faults of whole files, one text each. Their intact records are still read (Reading::skip_corrupt).
    virtual std::vector<std::string> faults() const { return {}; }

    // False if the page cache is used, or if the files are in memory (tmpfs): then input causes no device I/O.
    virtual bool past_page_cache() const { return false; }

 protected:
    void set_records(std::int64_t records) { records_ = records; }

 private:
    virtual void fetch(std::int64_t number, std::span<std::uint8_t> record) const = 0;
    virtual std::string place(std::int64_t number) const = 0;  // "data.bin, byte 3073": of the label or the record

    SampleShape shape_;
    std::int64_t records_ = 0;
};

// Why a record is invalid (its label is not a class, or an id is out of range). Empty for a valid record.
std::string fault_of(const SampleShape& shape, std::span<const std::uint8_t> record);

// Returns `shape`. Throws UsageError for an invalid shape.
const SampleShape& checked(const SampleShape& shape);

}  // namespace ddl
