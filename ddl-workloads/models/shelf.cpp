#include "ddl-workloads/models/model.hpp"

namespace ddl {

extern const ModelCard emulated_model;
extern const ModelCard synthetic_model;

base::Shelf<ModelCard> model_shelf(std::vector<const ModelCard*> more)
{
    more.push_back(&emulated_model);
    more.push_back(&synthetic_model);
    return {"model", "ddl-train", std::move(more)};
}

}  // namespace ddl
