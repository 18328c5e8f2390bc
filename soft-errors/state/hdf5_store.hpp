// SPDX-License-Identifier: Apache-2.0
// Storage of an HDF5 file other than a plain file that HDF5 opens itself.
#pragma once

#include "soft-errors/state/hdf5.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace soft_errors::hdf5 {

class Store {
 public:
    virtual ~Store() = default;

    virtual std::uint64_t size() const noexcept = 0;
    virtual void read(std::uint64_t at, std::span<std::byte> room) const noexcept = 0;
    virtual void write(std::uint64_t at, std::span<const std::byte> bytes) noexcept = 0;
    virtual void resize(std::uint64_t size) noexcept = 0;
};

// Properties to create or open a file in the store (H5Fcreate, H5Fopen). The file must be closed before the store ends.
Properties access_through(Store* store);

}  // namespace soft_errors::hdf5
