// SPDX-License-Identifier: Apache-2.0
// Removes a directory of noisegen's own with all its contents, and nothing else.
#pragma once

#include <string>

namespace noisegen {

// Removes the contents of the open directory `tree`, then its name in the open directory `parent`, if the name still
// refers to that directory. Descends by descriptors, follows no symlink, and enters no other mount. The entry `last` is
// removed after all others. Returns false if something is left.
bool remove_tree(int parent, const std::string& name, int tree, const std::string& last = {}) noexcept;

// Does the name in the open directory `parent` refer to the open directory `tree`?
bool names(int parent, const std::string& name, int tree) noexcept;

}  // namespace noisegen
