#include "ddl-workloads/models/torch/registry.hpp"

namespace ddl {

extern const ModelCard mlp_model;
extern const ModelCard resnet18_model;
extern const ModelCard resnet34_model;
extern const ModelCard resnet50_model;
extern const ModelCard gpt_model;
extern const ModelCard dlrm_model;

std::vector<const ModelCard*> torch_models()
{
    return {&mlp_model, &resnet18_model, &resnet34_model, &resnet50_model, &gpt_model, &dlrm_model};
}

}  // namespace ddl
