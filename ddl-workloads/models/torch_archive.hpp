// SPDX-License-Identifier: Apache-2.0
// Tensors in the file format of torch.save(). LibTorch writes and reads it, so these functions are in the library
// crosstalk-torch.
#pragma once

#include "ddl-workloads/models/state_tensor.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ddl {

struct ArchivedTensor {
    ElementType type = ElementType::float32;
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;
};

// torch.load() returns the two as a tuple of dictionaries.
struct TorchArchive {
    std::map<std::string, std::string> texts;
    std::map<std::string, ArchivedTensor> tensors;
};

// Both throw Error; from_torch_archive() for bytes that are not such an archive.
std::vector<char> to_torch_archive(const std::map<std::string, std::string>& texts,
                                   std::span<const StateTensor> tensors);
TorchArchive from_torch_archive(const std::vector<char>& bytes);

}  // namespace ddl
