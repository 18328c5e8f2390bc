// SPDX-License-Identifier: Apache-2.0
// Archives may come from anywhere, and OTF2's library trusts what it reads: so a child process with limits does all of
// the work, and only what it wrote remains.
#pragma once

#include "trace-tools/otf2/read/confined.hpp"

#include <filesystem>
#include <span>

namespace analysis {

// Limits for reading the archives or tables of steps one after the other and keeping their steps and slots.
otf2::Limits limits_for(std::span<const std::filesystem::path> archives);

}  // namespace analysis
