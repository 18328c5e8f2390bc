#include "ddl-workloads/models/torch/shelf.hpp"

namespace ddl {

extern const ModelCard mlp_model;
extern const ModelCard resnet18_model;

std::vector<const ModelCard*> torch_models()
{
    return {&mlp_model, &resnet18_model};
}

}  // namespace ddl
