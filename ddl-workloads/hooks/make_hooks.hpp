// SPDX-License-Identifier: Apache-2.0
// Makes the hooks of a training from its plan.
#pragma once

#include "base/cli/cards.hpp"
#include "base/cli/option_checks.hpp"
#include "base/contract/control_file.hpp"
#include "ddl-workloads/data/loading/batch_source.hpp"
#include "ddl-workloads/instruments/instruments.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/plan/plan.hpp"
#include "ddl-workloads/step/step_context.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace ddl {

// The parts of a training that hooks use. They must outlive the hooks.
struct HookParts {
    const TrainingPlan& plan;
    Model& model;
    BatchSource& input;
    ExchangeThread& exchanges;
    Instruments& instruments;
    NewsBoard& board;
    base::ControlPage* page = nullptr;       // control page of this node; null except on the node's first rank
    const std::filesystem::path& directory;  // DIR/train, which exists
    bool ranks_are_equal = true;             // all ranks have the same state after each step
    std::int64_t first_step = 0;

    // The value, parsed by base::parse<T>(), of an option on a hook's card.
    template <class T>
    T option(const std::string& name) const
    {
        return base::parsed<T>(("--" + name).c_str(), plan.hook_options.at(name));
    }
};

struct HookCard {
    std::vector<base::OptionCard> options = {};  // options of ddl-train that only this hook reads: parts.option()
    // Returns null if the plan does not ask for the hook. Collective; throws UsageError.
    std::shared_ptr<Hook> (*make)(const HookParts& parts);
};

// The options on the cards of all hooks.
std::vector<base::OptionCard> hook_options();

// All hooks that the plan asks for, in the order in which they are called.
std::vector<std::shared_ptr<Hook>> make_hooks(const HookParts& parts);

}  // namespace ddl
