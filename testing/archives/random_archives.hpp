// Archives of random MPI programs, written by Python's otf2 module with what an analysis must find in them, and whether
// the replay finds it.
#pragma once

#include <string>

namespace testing {

// Of `count` seeds from `first` on. What is wrong, a line each; skips where Python has no otf2.
std::string check_random_archives(int first, int count);

}  // namespace testing
