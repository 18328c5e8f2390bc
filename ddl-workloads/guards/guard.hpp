// SPDX-License-Identifier: Apache-2.0
// A guard: a plug-in that looks at a rank's state or gradients at certain moments of a step, and says what is not as it
// must be.
#pragma once

#include "base/cli/cards.hpp"
#include "ddl-workloads/guards/state_look.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ddl {

struct Finding {
    std::size_t tensor = 0;  // its place in the state, or among the gradients
    std::string what;        // "largest 3.4e+36, bound 2"
};

class Guard {
 public:
    virtual ~Guard() = default;

    // The state is what it shall be until the next forward. Called if it remembers that.
    virtual bool remembers_update() const { return false; }
    virtual void after_update(StateLook&) {}

    // The next forward is about to use the state.
    virtual std::vector<Finding> before_forward(StateLook&) { return {}; }

    // The update is about to use these gradients, the mean over the ranks.
    virtual std::vector<Finding> before_update(std::span<const std::span<float>>) { return {}; }

    // Makes good what it found in the last look, as far as that can be done without other ranks. False: it cannot.
    virtual bool repair_state(const StateTensor&, const Finding&) { return false; }
    virtual bool repair_gradients(std::span<const std::span<float>>) { return false; }
};

enum class LooksAt { state, gradients, ranks };  // ranks: compares them, which no Guard does alone

struct GuardCard {
    std::string name;
    std::string summary;
    std::vector<base::OptionCard> options;  // the first one may be given as NAME=VALUE
    LooksAt looks_at = LooksAt::state;
    std::unique_ptr<Guard> (*make)(const base::Settings& settings);
};

const base::Registry<GuardCard>& guard_registry();

}  // namespace ddl
