// Numbers as people read them.
#pragma once

#include "analysis/estimate/inference.hpp"

#include <string>

namespace analysis {

std::string fixed(double number, int digits);                    // "-3.10"; never "-0.00"
std::string percent(double number);                              // "3.1 %", two digits below one
std::string signed_percent(double number);                       // "+3.1 %"
std::string range(const Interval& interval);                     // "2.4 to 3.8 %"
std::string p_value(double p);                                   // "0.012", "< 0.001"
std::string length(double minutes);                              // "150 s", "14 min", "3 h", "more than a day"
std::string count(std::size_t number, const std::string& noun);  // "1 block", "2 blocks"

}  // namespace analysis
