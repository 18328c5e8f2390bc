// SPDX-License-Identifier: Apache-2.0
// The file to which HDF5 writes. HDF5 keeps a file half closed if closing fails, and then ends the process at exit; so
// write errors (a full disk) are hidden from HDF5 and reported by finish().
#pragma once

#include "ddl-workloads/data/hdf5.hpp"
#include "soft-errors/state/hdf5_store.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace ddl::hdf5 {

class Output final : public soft_errors::hdf5::Store {
 public:
    // Creates the file. Throws std::system_error.
    explicit Output(std::filesystem::path path);
    ~Output() override;
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    // Access properties for H5Fcreate. The HDF5 file must be closed before finish().
    hid_t access() const { return access_.get(); }

    // Throws std::system_error if a write failed. `durable`: the data is on the device, not only in the page cache.
    // Returns the time in ns that fsync took.
    std::int64_t finish(bool durable);

    // Called by HDF5 through its file driver. The data of a dataset whose offset is known may also be written directly.
    void write(std::uint64_t at, std::span<const std::byte> bytes) noexcept override;
    void read(std::uint64_t at, std::span<std::byte> room) const noexcept override;
    void resize(std::uint64_t size) noexcept override;
    std::uint64_t size() const noexcept override { return size_; }

 private:
    std::filesystem::path path_;
    int file_ = -1;
    std::uint64_t size_ = 0;
    int error_ = 0;  // errno of the first failed write
    Properties access_;
};

}  // namespace ddl::hdf5
