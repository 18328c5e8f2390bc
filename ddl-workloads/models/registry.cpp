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

}  // namespace ddl
