// Do the plug-ins and options of a plan go together?
#pragma once

#include "ddl-workloads/plan/plan.hpp"

namespace ddl {

// Throws UsageError if one of them needs what none of the others offers.
void check_choices(const TrainingPlan& plan, const base::Registry<ModelCard>& models);

}  // namespace ddl
