// What noisegen does when it was started to be a guardian.
#pragma once

#include "noisegen/stressors/guardian.hpp"

namespace noisegen {

// Waits until its parent process has ended, then cleans up; `word` is what it was given. Returns main()'s value.
int guard(Guardian::Duty duty, const char* word);

}  // namespace noisegen
