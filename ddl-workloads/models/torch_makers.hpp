// What the library crosstalk-torch shows to ddl-train, which loads it.
#pragma once

#include "ddl-workloads/models/model.hpp"

#include <memory>

namespace ddl {

// As ModelCard::make.
using MakeModel = std::unique_ptr<Model>(const base::Settings& settings, const ModelPlan& plan);

MakeModel make_mlp;
MakeModel make_resnet18;
MakeModel make_resnet34;
MakeModel make_resnet50;
MakeModel make_gpt;
MakeModel make_dlrm;

struct TorchMakers {
    MakeModel* mlp = make_mlp;
    MakeModel* resnet18 = make_resnet18;
    MakeModel* resnet34 = make_resnet34;
    MakeModel* resnet50 = make_resnet50;
    MakeModel* gpt = make_gpt;
    MakeModel* dlrm = make_dlrm;
};

extern "C" const TorchMakers crosstalk_torch_makers;  // by this name

}  // namespace ddl
