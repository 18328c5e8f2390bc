// SPDX-License-Identifier: Apache-2.0
// Removing a directory of one's own with all that is in it, and nothing else.
#pragma once

#include <string>

namespace noisegen {

// Removes what is below the open directory `tree`, then its name in the open directory `parent`, if the name still
// means that directory. Goes from directory to directory by descriptor: follows no symlink, enters no other mount. The
// entry `last` goes after all others. False if something is left.
bool remove_tree(int parent, const std::string& name, int tree, const std::string& last = {}) noexcept;

// Does the name in the open directory `parent` mean the open directory `tree`?
bool names(int parent, const std::string& name, int tree) noexcept;

}  // namespace noisegen
