// SPDX-License-Identifier: Apache-2.0
// Changes bytes in a file, to damage it.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace testing {

inline void put(const std::filesystem::path& path, std::int64_t at, const std::string& bytes)
{
    std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(at);
    file << bytes;
    REQUIRE(file.good());
}

}  // namespace testing
