// SPDX-License-Identifier: Apache-2.0
// Guards: plug-ins that examine a rank's state or gradients at certain points of a step and report what is wrong.
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
    std::size_t tensor = 0;  // index in the state, or among the gradients
    std::string what;        // such as "largest 3.4e+36, bound 2"
};

class Guard {
 public:
    virtual ~Guard() = default;

    // True if the guard remembers the state after an update. Only then after_update() is called; the state must stay
    // the same until the next forward.
    virtual bool remembers_update() const { return false; }
    virtual void after_update(StateLook&) {}

    // Called before the next forward uses the state.
    virtual std::vector<Finding> before_forward(StateLook&) { return {}; }

    // Called before the update uses these gradients, the mean over the ranks.
    virtual std::vector<Finding> before_update(std::span<const std::span<float>>) { return {}; }

    // Repairs what the last check found, as far as possible without other ranks. False: not possible.
    virtual bool repair_state(const StateTensor&, const Finding&) { return false; }
    virtual bool repair_gradients(std::span<const std::span<float>>) { return false; }
};

enum class LooksAt { state, gradients, ranks };  // ranks: compares ranks, which a single Guard cannot do

struct GuardCard {
    std::string name;
    std::string summary;
    std::vector<base::OptionCard> options;  // the first option may be given as NAME=VALUE
    LooksAt looks_at = LooksAt::state;
    std::unique_ptr<Guard> (*make)(const base::Settings& settings);
};

const base::Registry<GuardCard>& guard_registry();

}  // namespace ddl
