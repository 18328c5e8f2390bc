// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch/torch_dense.hpp"

#include "ddl-workloads/models/torch/torch_state.hpp"

#include <torch/csrc/autograd/functions/utils.h>

namespace ddl {

namespace {

std::span<float> floats_of(const torch::Tensor& tensor)
{
    return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

// The backward of a product: its inputs are x, the bias, which always has a gradient, and W unless products keep it.
struct ProductBackward : torch::autograd::Node {
    DenseProducts* products = nullptr;
    std::size_t layer = 0;
    torch::Tensor x;

    torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override
    {
        const torch::Tensor dy = gradients.front().contiguous();
        torch::Tensor dx;
        if (should_compute_output(0)) dx = torch::empty_like(x);
        products->backward(layer, floats_of(x), floats_of(dy), dx.defined() ? floats_of(dx) : std::span<float>{});
        torch::autograd::variable_list all{dx, dy.flatten(0, -2).sum(0)};
        if (!products->keeps_weights()) all.push_back(dy.flatten(0, -2).t().mm(x.flatten(0, -2)));
        x.reset();
        return all;
    }
};

}  // namespace

torch::Tensor DenseImpl::forward(const torch::Tensor& x)
{
    if (products_ == nullptr || !is_training()) return torch::nn::LinearImpl::forward(x);
    auto node = std::shared_ptr<ProductBackward>(new ProductBackward, torch::autograd::deleteNode);
    node->products = products_;
    node->layer = layer_;
    node->x = x.detach().to(torch::kFloat).contiguous();
    node->set_next_edges(products_->keeps_weights() ? torch::autograd::collect_next_edges(x, bias)
                                                    : torch::autograd::collect_next_edges(x, bias, weight));
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = weight.size(0);
    torch::Tensor y = torch::empty(shape);
    products_->forward(layer_, floats_of(node->x), floats_of(y));
    y.add_(bias.detach());
    torch::autograd::create_gradient_edge(y, std::move(node));
    return y;
}

void DenseImpl::compute_by(DenseProducts& products, std::size_t layer)
{
    products_ = &products;
    layer_ = layer;
    weight.requires_grad_(!products.keeps_weights());
}

TorchDense::TorchDense(Network& network, torch::optim::Optimizer& optimizer, const OptimizerPlan& plan,
                       std::vector<torch::Tensor>& trained)
    : optimizer_{optimizer}, plan_{plan}, trained_{trained}
{
    for (const auto& item : network.named_modules())
        if (auto* const dense = item.value()->as<DenseImpl>()) layers_.emplace_back(item.key(), dense);
}

std::vector<DenseLayer> TorchDense::dense_layers()
{
    std::vector<DenseLayer> all;
    for (const auto& [name, dense] : layers_) {
        const torch::Tensor& weight = dense->weight;
        DenseLayer layer{
            .name = name, .outputs = weight.size(0), .inputs = weight.size(1), .weights = floats_of(weight)};
        if (has_momentum(plan_)) layer.momentum = floats_of(momentum_of(optimizer_, weight));
        all.push_back(std::move(layer));
    }
    return all;
}

void TorchDense::leave_products_to(DenseProducts& products)
{
    products_ = &products;
    for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i].second->compute_by(products, i);
    std::erase_if(trained_, [](const torch::Tensor& parameter) { return !parameter.requires_grad(); });
}

}  // namespace ddl
