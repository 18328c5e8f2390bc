// SPDX-License-Identifier: Apache-2.0
// Examines whether a machine can measure interference, and names the packages that provide what is missing.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace crosstalk {

enum class State { there, limited, missing };

struct Finding {
    std::string what;  // "CPUs", "MPI"
    State state = State::there;
    bool needed = false;      // every run needs it
    std::string found = {};   // "2 cores on 1 socket"; empty if nothing was found
    std::string advice = {};  // if limited or missing: its purpose and the package that provides it
};

// Examines this machine with the present user's permissions; takes well under a second.
std::vector<Finding> examine();

// Is everything available that every run needs?
bool can_run(const std::vector<Finding>& findings);

void print(std::ostream& out, const std::vector<Finding>& findings);
void print_json(std::ostream& out, const std::vector<Finding>& findings);

}  // namespace crosstalk
