// Archives may come from anywhere, and OTF2's library trusts what it reads: so a child process with limits does all of
// the work, and only what it wrote remains.
#pragma once

#include "trace-tools/otf2/read/confined.hpp"

#include <filesystem>
#include <span>

namespace analysis {

// What reading the archives or tables of steps one after the other and keeping their steps and slots may take.
otf2::Limits limits_for(std::span<const std::filesystem::path> archives);

}  // namespace analysis
