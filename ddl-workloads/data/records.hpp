// SPDX-License-Identifier: Apache-2.0
// Records by number, however they lie on disk.
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
    uncached,  // through the page cache, of which nothing stays: input comes from the device
    direct     // past the page cache (O_DIRECT)
};

struct Reading {
    Access access = Access::buffered;
    bool skip_corrupt = false;  // what is left of a file that was cut off is read; otherwise it is refused
};

// Says file and byte. Another record may be fine.
struct CorruptRecord : base::Error {
    using Error::Error;
};

class Records {
 public:
    // Throws UsageError for a shape that no record can have.
    explicit Records(const SampleShape& shape);
    virtual ~Records() = default;
    Records(const Records&) = delete;
    Records& operator=(const Records&) = delete;

    const SampleShape& shape() const { return shape_; }
    std::int64_t records() const { return records_; }

    // One record (shape().record_bytes()). Thread-safe. Throws CorruptRecord, std::system_error for what cannot be
    // read.
    void read(std::int64_t number, std::span<std::uint8_t> record) const;

    // Faults of the files as a whole, one a line; their sound records are read (Reading::skip_corrupt).
    virtual std::vector<std::string> faults() const { return {}; }

    // False if the page cache is used, or if the files live in memory (tmpfs): no input is I/O of a device.
    virtual bool past_page_cache() const { return false; }

 protected:
    void set_records(std::int64_t records) { records_ = records; }

 private:
    virtual void fetch(std::int64_t number, std::span<std::uint8_t> record) const = 0;
    virtual std::string place(std::int64_t number) const = 0;  // "data.bin, byte 3073": of the label, or of the record

    SampleShape shape_;
    std::int64_t records_ = 0;
};

// Why a record cannot be: a label that is no class, an id that is no row. Empty for a sound one.
std::string fault_of(const SampleShape& shape, std::span<const std::uint8_t> record);

// Hands it through. Throws UsageError for a shape that no record can have.
const SampleShape& checked(const SampleShape& shape);

}  // namespace ddl
