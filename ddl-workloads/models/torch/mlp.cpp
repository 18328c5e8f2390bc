// A multilayer perceptron: nothing but matrix products, gradients of very different sizes.
#include "ddl-workloads/models/torch/torch_model.hpp"

namespace ddl {

namespace {

class Mlp : public Network {
 public:
    Mlp(const SampleShape& shape, std::int64_t hidden, int layers)
    {
        std::int64_t in = shape.pixels();
        for (int layer = 0; layer < layers; ++layer) {
            layers_->push_back(torch::nn::Linear{in, hidden});
            layers_->push_back(torch::nn::ReLU{});
            in = hidden;
        }
        layers_->push_back(torch::nn::Linear{in, shape.classes});
        register_module("layers", layers_);
    }

    torch::Tensor forward(torch::Tensor images) override { return layers_->forward(images.flatten(1)); }

 private:
    torch::nn::Sequential layers_;
};

}  // namespace

extern const ModelCard mlp_model;
const ModelCard mlp_model{
    .name = "mlp",
    .summary = "multilayer perceptron",
    .options = {{"hidden", "256", "units of a hidden layer"}, {"layers", "2", "hidden layers"}},
    .make = [](const base::Settings& settings, const ModelPlan& plan) -> std::unique_ptr<Model> {
        const auto hidden = settings.get<std::int64_t>("hidden");
        const int layers = settings.get<int>("layers");
        if (hidden < 1 || layers < 0) base::fail_usage("mlp: hidden must be at least 1, layers at least 0");
        return torch_model([&] { return std::make_shared<Mlp>(plan.shape, hidden, layers); }, plan);
    },
};

}  // namespace ddl
