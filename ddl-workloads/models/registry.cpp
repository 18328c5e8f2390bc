// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/gradient_model.hpp"
#include "ddl-workloads/models/model.hpp"

namespace ddl {

extern const ModelCard emulated_model;
extern const ModelCard synthetic_model;

base::Registry<ModelCard> model_registry(std::vector<const ModelCard*> more)
{
    more.push_back(&emulated_model);
    more.push_back(&synthetic_model);
    return {"model", "ddl-train", std::move(more)};
}

GradientModel& gradients_of(Model& model)
{
    GradientModel* const gradients = model.with_gradients();
    if (gradients == nullptr) base::fail_usage("this model has no gradients that ranks exchange");
    return *gradients;
}

}  // namespace ddl
