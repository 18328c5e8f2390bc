// SPDX-License-Identifier: Apache-2.0
// POP efficiencies of a run. Sources: POP's metrics; Cube's advisor for serialisation and transfer, which it computes
// without a network simulation: transfer time = time in MPI - time in wait states.
#pragma once

#include "trace-tools/replay/mpi_replay.hpp"

#include <optional>
#include <vector>

namespace replay {

struct Efficiencies {
    double load_balance = 1.0;   // mean computation / most computation
    double serialisation = 1.0;  // most computation / most (run time - transfer time)
    double transfer = 1.0;       // most (run time - transfer time) / most run time
    double communication() const { return serialisation * transfer; }
    double parallel() const { return load_balance * communication(); }
};

// Efficiencies over the locations that call MPI; none if no location does.
std::optional<Efficiencies> efficiencies(const std::vector<MpiTimes>& times);

}  // namespace replay
