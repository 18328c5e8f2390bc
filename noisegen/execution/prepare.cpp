#include "noisegen/execution/prepare.hpp"

#include "noisegen/execution/warnings.hpp"
#include "noisegen/resources/node_limits.hpp"

namespace noisegen {

void prepare(Plan& plan)
{
    resolve_rates(plan.request.schedule, plan.runs, plan.request.limits_file);
    allow_descriptors(plan.demands);
    if (!plan.request.schedule.needs_slot()) check_designed(plan);
    warn_of_competition(plan);
}

}  // namespace noisegen
