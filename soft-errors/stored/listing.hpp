// SPDX-License-Identifier: Apache-2.0
// Tensors that HDF5 finds in a file. Runs where it may crash.
#pragma once

#include "soft-errors/stored/stored_file.hpp"
#include "soft-errors/stored/tensor.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace soft_errors {

// A link into another file: of a checkpoint with shards, or of anybody's.
struct OtherFileLink {
    std::string path;
    std::string file;
    std::string path_there;
};

struct Listing {
    std::vector<Tensor> tensors;
    std::vector<LeftAlone> left_alone;
    std::vector<OtherFileLink> links;
    bool ours = false;  // a checkpoint of ddl-train
};

// Throws Error.
Listing list(const StoredFile& file);

// Between the child and its parent.
std::string packed_listing(const Listing& listing);
Listing unpacked_listing(const std::string& bytes);

}  // namespace soft_errors
