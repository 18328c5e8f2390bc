// SPDX-License-Identifier: Apache-2.0
// Writes metrics of every tenth step into the trace.
#include "ddl-workloads/guards/state_scan.hpp"
#include "ddl-workloads/hooks/make_hooks.hpp"
#include "ddl-workloads/models/gradient_model.hpp"

#include <cmath>

namespace ddl {

namespace {

constexpr std::int64_t steps_of_a_sample = 10;

bool is_due(const StepContext& context)
{
    return context.state.taken % steps_of_a_sample == 0;
}

// L2 norm over all values.
double norm(const std::vector<std::span<float>>& values)
{
    double sum = 0.0;
    for (const std::span<float> span : values) sum += sum_of_squares(span);
    return std::sqrt(sum);
}

class Samples : public Hook {
 public:
    explicit Samples(const HookParts& parts)
        : input_{parts.input}, instruments_{parts.instruments}, level_{parts.plan.recording.level}
    {
    }

    void before_update(StepContext& context) override
    {
        gradient_norm_.reset();
        if (!is_due(context) || level_ == DetailLevel::L0 || context.model.with_gradients() == nullptr) return;
        context.clock.leave();
        gradient_norm_ = norm(gradients_of(context.model).gradients());
    }

    void after_update(StepContext& context) override
    {
        if (!is_due(context)) return;
        instruments_.sample({.loss = context.model.loss(),
                             .gradient_norm = gradient_norm_,
                             .queue_depth = input_.queue_depth(),
                             .bytes_read = input_.bytes_read()});
    }

 private:
    BatchSource& input_;
    Instruments& instruments_;
    DetailLevel level_;
    std::optional<double> gradient_norm_;
};

}  // namespace

namespace hook {

extern const HookCard samples{
    .make = [](const HookParts& parts) -> std::shared_ptr<Hook> {
        if (!parts.plan.trials.empty()) return nullptr;
        return std::make_shared<Samples>(parts);
    },
};

}  // namespace hook

}  // namespace ddl
