// SPDX-License-Identifier: Apache-2.0
// Distance of the state from that of an unaltered training (--golden).
#include "ddl-workloads/guards/golden.hpp"

#include "base/contract/soft_error_tables.hpp"
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"
#include "ddl-workloads/hooks/make_hooks.hpp"
#include "ddl-workloads/plan/checkpoint_meta.hpp"

#include <nlohmann/json.hpp>

namespace ddl {

namespace {

class Golden : public Hook {
 public:
    explicit Golden(const HookParts& parts) : comparison_{parts.plan.guards.golden}
    {
        const CheckpointMeta mine =
            checkpoint_meta(parts.plan, parts.exchanges.size(), parts.input.steps_per_epoch(), parts.first_step);
        check_same_training(CheckpointReader{comparison_.first()}.meta(), mine, "--golden");
        if (parts.exchanges.rank() == 0)
            base::CsvWriter{parts.directory / base::soft_errors::propagation, base::soft_errors::propagation_columns};
        parts.exchanges.barrier().get();
        comparison_.record(parts.instruments.recorder(), parts.instruments.main(), parts.directory,
                           parts.exchanges.rank(), 0);
    }

    void after_update(StepContext& context) override
    {
        const std::int64_t steps = context.state.done() + 1;
        if (comparison_.is_due(steps)) comparison_.compare(steps, context.model);
    }

    void describe(nlohmann::ordered_json& mine) const override { mine["golden"] = comparison_.summary(); }

 private:
    GoldenComparison comparison_;
};

}  // namespace

namespace hook {

extern const HookCard golden{
    .make = [](const HookParts& parts) -> std::shared_ptr<Hook> {
        if (parts.plan.guards.golden.empty()) return nullptr;
        return std::make_shared<Golden>(parts);
    },
};

}  // namespace hook

}  // namespace ddl
