// The means that let a noise last into the next slot: see Lasting.
#pragma once

#include "analysis/estimate/estimator.hpp"

#include <optional>

namespace analysis {

// From ordinary steps. None where the order of slots does not separate what is left from what is on, with fewer than
// three blocks, and without a noise.
std::optional<Lasting> lasting_of(const Fit& fit, const Series& series, const StepsOf& of);

}  // namespace analysis
