// SPDX-License-Identifier: Apache-2.0
// Reads archives in a child process with limits, of which only the output is used: archives may come from anywhere, and
// OTF2's library trusts what it reads.
#pragma once

#include "trace-tools/otf2/read/confined.hpp"

#include <filesystem>
#include <span>

namespace analysis {

// Limits for reading these archives or tables of steps one after the other and keeping their steps and slots in memory.
otf2::Limits limits_for(std::span<const std::filesystem::path> archives);

}  // namespace analysis
