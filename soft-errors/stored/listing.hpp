// SPDX-License-Identifier: Apache-2.0
// Lists the tensors that HDF5 finds in a file. HDF5 may crash, so the listing is done in a child process.
#pragma once

#include "soft-errors/stored/stored_file.hpp"
#include "soft-errors/stored/tensor.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace soft_errors {

// A link into another file, such as a shard of a checkpoint.
struct OtherFileLink {
    std::string path;
    std::string file;
    std::string path_there;
};

struct Listing {
    std::vector<Tensor> tensors;
    std::vector<LeftAlone> left_alone;
    std::vector<OtherFileLink> links;
    bool ours = false;  // written by ddl-train
};

// Throws Error if the file cannot be listed.
Listing list(const StoredFile& file);

// Serialise a listing between the child and its parent.
std::string packed_listing(const Listing& listing);
Listing unpacked_listing(const std::string& bytes);

}  // namespace soft_errors
