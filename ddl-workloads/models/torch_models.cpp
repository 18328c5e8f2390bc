#include "ddl-workloads/models/torch_models.hpp"

#ifdef CROSSTALK_DDL_TORCH

#include "base/error.hpp"
#include "base/programs/own_library.hpp"
#include "ddl-workloads/models/torch_makers.hpp"

#include <dlfcn.h>

namespace ddl {

namespace {

const TorchMakers& loaded()
{
    void* const library = ::dlopen(base::own_library("crosstalk-torch").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) base::unavailable("cannot load LibTorch: ", ::dlerror());
    const void* const found = ::dlsym(library, "crosstalk_torch_makers");
    if (found == nullptr) base::fail("libcrosstalk-torch.so is not of this ddl-train: ", ::dlerror());
    return *static_cast<const TorchMakers*>(found);
}

const TorchMakers& makers()
{
    static const TorchMakers& all = loaded();
    return all;
}

const ModelCard mlp{
    .name = "mlp",
    .summary = "multilayer perceptron",
    .options = {{"hidden", "256", "units of a hidden layer"}, {"layers", "2", "hidden layers"}},
    .make = [](const base::Settings& settings, const ModelPlan& plan) { return makers().mlp(settings, plan); },
    .chooses_device = true,
};

const std::vector<base::OptionCard> resnet_options{
    {"width", "64", "channels of the first stage"},
    {"stem", "cifar", "how an image enters: cifar, for small ones, or imagenet: 7x7 with stride and pooling"}};

// Parameters: at width 64 with the stem for CIFAR and 10 classes.
const ModelCard resnet18{
    .name = "resnet18",
    .summary = "ResNet-18, 11,173,962 parameters",
    .options = resnet_options,
    .make = [](const base::Settings& settings, const ModelPlan& plan) { return makers().resnet18(settings, plan); },
    .chooses_device = true,
};

const ModelCard resnet34{
    .name = "resnet34",
    .summary = "ResNet-34, 21,282,122 parameters",
    .options = resnet_options,
    .make = [](const base::Settings& settings, const ModelPlan& plan) { return makers().resnet34(settings, plan); },
    .chooses_device = true,
};

const ModelCard resnet50{
    .name = "resnet50",
    .summary = "ResNet-50, 23,520,842 parameters",
    .options = resnet_options,
    .make = [](const base::Settings& settings, const ModelPlan& plan) { return makers().resnet50(settings, plan); },
    .chooses_device = true,
};

const ModelCard gpt{
    .name = "gpt",
    .summary =
        "transformer as GPT-2 that guesses the next byte of text; with 128 positions 842,496 parameters as nano, "
        "10,795,008 as micro, 85,350,912 as small",
    .options = {{"size", "nano", "layers, width, heads: nano 4, 128, 4; micro 6, 384, 6; small 12, 768, 12"},
                {"layers", "", "blocks; of the size if empty"},
                {"width", "", "of a position's features; of the size if empty"},
                {"heads", "", "of attention; of the size if empty"},
                {"context", "", "positions it can learn; the length of the data's samples if empty"},
                {"vocabulary", "256", "different bytes; its embedding is also the head"}},
    .make = [](const base::Settings& settings, const ModelPlan& plan) { return makers().gpt(settings, plan); },
    .chooses_device = true,
};

const ModelCard dlrm{
    .name = "dlrm",
    .summary =
        "recommendation as DLRM: embedding tables divided over the ranks, exchanged all to all; 445,169 parameters "
        "with --data clicks",
    .options = {{"embedding", "16", "features of a row"},
                {"rows", "",
                 "of a table; one for all or one for each: 1000/50/20; an id is taken modulo them; as many "
                 "as the data's ids if empty"},
                {"bottom", "64/32", "hidden layers between dense features and interaction"},
                {"top", "64/32", "hidden layers between interaction and guess"}},
    .make = [](const base::Settings& settings, const ModelPlan& plan) { return makers().dlrm(settings, plan); },
    .chooses_device = true,
};

}  // namespace

std::vector<const ModelCard*> torch_models()
{
    return {&mlp, &resnet18, &resnet34, &resnet50, &gpt, &dlrm};
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
