// SPDX-License-Identifier: Apache-2.0
// Examines what a machine offers and lacks for measuring interference, and names the package that brings the rest.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace crosstalk {

enum class State { there, limited, missing };

struct Finding {
    std::string what;  // "CPUs", "MPI"
    State state = State::there;
    bool needed = false;      // by every run
    std::string found = {};   // "2 cores on 1 socket", empty if nothing was
    std::string advice = {};  // what it is for and what brings it, where it is limited or missing
};

// Looks at this machine, as this user may; takes well under a second.
std::vector<Finding> examine();

// Is everything there that every run needs?
bool can_run(const std::vector<Finding>& findings);

void print(std::ostream& out, const std::vector<Finding>& findings);
void print_json(std::ostream& out, const std::vector<Finding>& findings);

}  // namespace crosstalk
