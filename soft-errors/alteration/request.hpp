// SPDX-License-Identifier: Apache-2.0
// The options of ddl-alter, checked as far as possible without the file.
#pragma once

#include "soft-errors/drawing/request.hpp"

#include <cstdint>
#include <filesystem>

namespace soft_errors {

struct AlterRequest {
    std::filesystem::path file = {};
    std::filesystem::path out = {};  // path of the altered copy; empty: in place
    std::filesystem::path record = {};
    SiteRequest sites = {};
    FlipRequest flips = {};
    std::uint64_t seed = 1;
    bool keep_checksum = false;
    bool dry_run = false;
    std::filesystem::path replay = {};
    std::filesystem::path map = {};
};

}  // namespace soft_errors
