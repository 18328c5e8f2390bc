// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch/torch_state.hpp"

#include "base/error.hpp"

#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace ddl {

namespace {

// The optimizer's state of a parameter. The map's key is a text before LibTorch 2.1.
template <class Map>
std::unique_ptr<torch::optim::OptimizerParamState>& place_of(Map& all, const torch::Tensor& parameter)
{
    if constexpr (std::is_same_v<typename Map::key_type, std::string>)
        return all[base::join(parameter.unsafeGetTensorImpl())];
    else
        return all[parameter.unsafeGetTensorImpl()];
}

template <class Kept>
Kept& kept_of(torch::optim::Optimizer& optimizer, const torch::Tensor& parameter)
{
    auto& kept = place_of(optimizer.state(), parameter);
    if (!kept) kept = std::make_unique<Kept>();  // as the optimizer does at its first step
    return static_cast<Kept&>(*kept);
}

// The state as a contiguous tensor; zeros if the optimizer has not made it yet (it does so at its first step).
torch::Tensor whole(const torch::Tensor& kept, const torch::Tensor& parameter)
{
    return kept.defined() ? kept.contiguous() : torch::zeros_like(parameter, torch::MemoryFormat::Contiguous).detach();
}

void add_state_of_adamw(GatheredState& all, torch::optim::Optimizer& optimizer, const std::string& name,
                        const torch::Tensor& parameter, Owner owner)
{
    auto& kept = kept_of<torch::optim::AdamWParamState>(optimizer, parameter);
    kept.exp_avg(whole(kept.exp_avg(), parameter));
    kept.exp_avg_sq(whole(kept.exp_avg_sq(), parameter));
    all.add("optimizer/exp_avg/" + name, kept.exp_avg(), owner);
    all.add("optimizer/exp_avg_sq/" + name, kept.exp_avg_sq(), owner);
    all.add_number("optimizer/step/" + name, kept.step(), owner);
}

}  // namespace

torch::ScalarType torch_type(ElementType type)
{
    switch (type) {
        case ElementType::float32:
            return torch::kFloat32;
        case ElementType::float64:
            return torch::kFloat64;
        case ElementType::int32:
            return torch::kInt32;
        case ElementType::int64:
            return torch::kInt64;
        case ElementType::uint8:
            break;
    }
    return torch::kUInt8;
}

std::optional<ElementType> element_type(const torch::Tensor& tensor)
{
    for (const ElementType type :
         {ElementType::float32, ElementType::float64, ElementType::int32, ElementType::int64, ElementType::uint8})
        if (tensor.scalar_type() == torch_type(type)) return type;
    return std::nullopt;
}

void GatheredState::add(std::string path, const torch::Tensor& tensor, Owner owner)
{
    if (!tensor.is_contiguous()) base::fail("a tensor of the model is not contiguous");
    const std::optional<ElementType> type = element_type(tensor);
    if (!type) base::fail("no checkpoint can hold a tensor of ", std::string{tensor.dtype().name()});
    places_.push_back(all_.size());
    tensors_.push_back(tensor);
    all_.push_back(
        {.path = std::move(path), .type = *type, .shape = tensor.sizes().vec(), .bytes = {}, .owner = owner});
}

void GatheredState::add_number(std::string path, std::int64_t& number, Owner owner)
{
    all_.push_back({.path = std::move(path),
                    .type = ElementType::int64,
                    .shape = {},
                    .bytes = std::as_writable_bytes(std::span{&number, 1}),
                    .owner = owner});
}

std::vector<StateTensor> GatheredState::seen_by(HostCopies& copies)
{
    const std::vector<std::span<std::byte>>& bytes = copies.of(tensors_);
    for (std::size_t i = 0; i < places_.size(); ++i) all_[places_[i]].bytes = bytes[i];
    return std::move(all_);
}

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::vector<torch::Tensor>& parameters,
                                                        const OptimizerPlan& plan)
{
    using namespace torch::optim;
    if (plan.name == "adamw")
        return std::make_unique<AdamW>(parameters, AdamWOptions(plan.learning_rate).weight_decay(plan.weight_decay));
    return std::make_unique<SGD>(
        parameters, SGDOptions(plan.learning_rate).momentum(plan.momentum).weight_decay(plan.weight_decay));
}

bool has_momentum(const OptimizerPlan& plan)
{
    return plan.name == "sgd" && plan.momentum != 0.0;
}

torch::Tensor momentum_of(torch::optim::Optimizer& optimizer, const torch::Tensor& parameter)
{
    auto& kept = kept_of<torch::optim::SGDParamState>(optimizer, parameter);
    kept.momentum_buffer(whole(kept.momentum_buffer(), parameter));
    return kept.momentum_buffer();
}

void add_optimizer_state(GatheredState& all, torch::optim::Optimizer& optimizer, const OptimizerPlan& plan,
                         const std::string& name, const torch::Tensor& parameter, Owner owner)
{
    if (plan.name == "adamw")
        add_state_of_adamw(all, optimizer, name, parameter, owner);
    else if (has_momentum(plan))
        all.add("optimizer/momentum/" + name, momentum_of(optimizer, parameter), owner);
}

void step_together(torch::optim::Optimizer& optimizer, const OptimizerPlan& plan,
                   const std::vector<torch::Tensor>& parameters)
{
    const torch::NoGradGuard no_gradients;
    std::vector<torch::Tensor> gradients;
    std::vector<torch::Tensor> momenta;
    for (const torch::Tensor& parameter : parameters) {
        gradients.push_back(parameter.grad());
        momenta.push_back(kept_of<torch::optim::SGDParamState>(optimizer, parameter).momentum_buffer());
    }
    if (plan.weight_decay != 0.0) gradients = at::_foreach_add(gradients, parameters, plan.weight_decay);
    at::_foreach_mul_(momenta, plan.momentum);
    at::_foreach_add_(momenta, gradients);
    at::_foreach_add_(parameters, momenta, -plan.learning_rate);
}

}  // namespace ddl
