// SPDX-License-Identifier: Apache-2.0
// A multilayer perceptron: matrix products only, with gradients of very different sizes.
#include "ddl-workloads/models/torch/torch_dense.hpp"
#include "ddl-workloads/models/torch/torch_model.hpp"
#include "ddl-workloads/models/torch_makers.hpp"

namespace ddl {

namespace {

class Mlp : public LayeredNetwork {
 public:
    Mlp(const SampleShape& shape, std::int64_t hidden, int layers) : hidden_{hidden}
    {
        std::int64_t in = shape.pixels();
        for (int layer = 0; layer < layers; ++layer) {
            layers_->add(base::join("layer ", layer), torch::nn::Sequential{Dense{in, hidden}, torch::nn::ReLU{}});
            in = hidden;
        }
        layers_->add("head", torch::nn::Sequential{Dense{in, shape.classes}});
        register_module("layers", layers_);
    }

    std::size_t layers() const override { return layers_->count(); }
    std::string layer_name(std::size_t layer) const override { return layers_->name(layer); }
    torch::Tensor forward_layer(std::size_t layer, const torch::Tensor& x, const Inputs& inputs) override
    {
        return layers_->forward(layer, layer == 0 ? inputs.images.flatten(1) : x);
    }
    std::vector<std::int64_t> output_shape(std::size_t) const override { return {hidden_}; }

 private:
    std::int64_t hidden_;
    std::shared_ptr<NamedLayers> layers_ = std::make_shared<NamedLayers>();
};

}  // namespace

std::unique_ptr<Model> make_mlp(const base::Settings& settings, const ModelPlan& plan)
{
    const auto hidden = settings.get<std::int64_t>("hidden");
    const int layers = settings.get<int>("layers");
    check_images("mlp", plan.shape);
    if (hidden < 1 || layers < 0) base::fail_usage("mlp: hidden must be at least 1, layers at least 0");
    return torch_model([&] { return std::make_shared<Mlp>(plan.shape, hidden, layers); }, plan);
}

}  // namespace ddl
