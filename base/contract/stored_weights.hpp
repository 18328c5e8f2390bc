// Words for weights that lie in memory whose bits flip: in options, in specs of campaigns, in tables of trials.
#pragma once

#include <array>

namespace base::stored {

// How a weight's number stands in bits.
inline constexpr std::array codes{"fp32", "fp16", "bf16", "int8", "int4", "sign-magnitude", "gray", "offset"};

// What finds a weight that is damaged.
inline constexpr std::array detections{"none", "parity", "range", "both"};

// How often weights are read: once, and what was read is trained on; or for each forward, and sound ones are.
inline constexpr const char* once = "once";
inline constexpr const char* each = "each";
inline constexpr std::array reads{once, each};

}  // namespace base::stored
