// SPDX-License-Identifier: Apache-2.0
// Where HDF5 writes a new file. A file whose closing fails would stay half closed inside HDF5 and end the process when
// it exits; so HDF5 never learns of a full disk, and finish() reports it.
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

    // To create the HDF5 file with (H5Fcreate); must be closed before finish().
    hid_t access() const { return access_.get(); }

    // Throws std::system_error if a write failed. `durable`: on the device, not only in the page cache.
    void finish(bool durable);

    // Write of HDF5, through its file driver. Bytes of a dataset that has its place may also be written without it.
    void write(std::uint64_t at, std::span<const std::byte> bytes) noexcept override;
    void read(std::uint64_t at, std::span<std::byte> room) const noexcept override;
    void resize(std::uint64_t size) noexcept override;
    std::uint64_t size() const noexcept override { return size_; }

 private:
    std::filesystem::path path_;
    int file_ = -1;
    std::uint64_t size_ = 0;
    int error_ = 0;  // errno of the first write that failed
    Properties access_;
};

}  // namespace ddl::hdf5
