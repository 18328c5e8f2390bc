// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch_models.hpp"

#ifdef CROSSTALK_DDL_TORCH

#include "base/error.hpp"
#include "base/programs/own_library.hpp"
#include "ddl-workloads/models/dense_model.hpp"
#include "ddl-workloads/models/gradient_model.hpp"
#include "ddl-workloads/models/torch_makers.hpp"

#include <dlfcn.h>

namespace ddl {

namespace {

const TorchMakers& loaded()
{
    void* const library = ::dlopen(base::own_library("crosstalk-torch").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) base::unavailable("cannot load LibTorch: ", ::dlerror());
    const void* const found = ::dlsym(library, "crosstalk_torch_makers");
    if (found == nullptr) base::fail("libcrosstalk-torch.so is of another build than ddl-train: ", ::dlerror());
    return *static_cast<const TorchMakers*>(found);
}

// Capabilities of the models that use LibTorch.
const base::Capabilities divided{&device_choice, &learning, &exchanged_gradients};
const base::Capabilities as_a_whole{&device_choice, &learning, &exchanged_gradients, &dense_layers};
const base::Capabilities one_product{&dense_layers, &single_product};
const base::Capabilities in_layers{&device_choice, &learning, &exchanged_gradients, &dense_layers, &layered};

}  // namespace

const TorchMakers& torch_library()
{
    static const TorchMakers& all = loaded();
    return all;
}

std::vector<const ModelCard*> torch_models()
{
    static const std::vector<ModelCard> cards{
#define TORCH_MODEL(id, text, offered, ...)                                                                            \
    {.name = #id,                                                                                                      \
     .summary = text,                                                                                                  \
     .options = {__VA_ARGS__},                                                                                         \
     .make = [](const base::Settings& settings, const ModelPlan& plan) { return torch_library().id(settings, plan); }, \
     .offers = offered},
#include "ddl-workloads/models/torch_models.inc"
    };
    std::vector<const ModelCard*> all;
    for (const ModelCard& card : cards) all.push_back(&card);
    return all;
}

}  // namespace ddl

#else

namespace ddl {

std::vector<const ModelCard*> torch_models()
{
    return {};
}

}  // namespace ddl

#endif
