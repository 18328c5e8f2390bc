// SPDX-License-Identifier: Apache-2.0
// Interfaces of LibTorch networks that torch_model() can use.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ddl {

// A batch as tensors, which are views of it: the batch must outlive them.
struct Inputs {
    torch::Tensor images;  // samples x channels x height x width; for clicks: samples x dense features
    torch::Tensor labels;  // one for each sample; undefined for text
    torch::Tensor tokens;  // for text: samples x (length + 1); for clicks: samples x categories
};

// Part of a network that only this rank holds, if the network is divided over the ranks. It is exchanged and updated
// separately.
class OwnPart {
 public:
    virtual ~OwnPart() = default;
    virtual std::vector<torch::Tensor> parameters() = 0;
    virtual std::int64_t parameters_of_all_ranks() const = 0;
    // Call after backward; when it returns, the gradients of this part are complete.
    virtual void finish_backward() = 0;
    virtual void update() = 0;
};

class Network : public torch::nn::Module {
 public:
    // Computes scores: one row for each answer, one column for each class.
    virtual torch::Tensor forward(const Inputs& inputs) = 0;
    // The correct answers, one for each row of scores.
    virtual torch::Tensor answers(const Inputs& inputs) const { return inputs.labels; }
    virtual torch::Tensor loss(const torch::Tensor& scores, const torch::Tensor& answers) const
    {
        return torch::nn::functional::cross_entropy(scores, answers);
    }
    virtual torch::Tensor guesses(const torch::Tensor& scores) const { return scores.argmax(1); }
    virtual OwnPart* own_part() { return nullptr; }
};

// Records a region of this name for the lifetime of the object, in traces that show modules.
class ModuleScope {
 public:
    explicit ModuleScope(const char* name) : function_{at::RecordScope::USER_SCOPE}
    {
        if (function_.isActive()) function_.before(name);
    }

 private:
    at::RecordFunction function_;
};

// A network of layers, each of which takes the output of the previous one.
class LayeredNetwork : public Network {
 public:
    virtual std::size_t layers() const = 0;
    virtual std::string layer_name(std::size_t layer) const = 0;
    // The first layer gets the inputs and an undefined `x`; the last layer returns scores.
    virtual torch::Tensor forward_layer(std::size_t layer, const torch::Tensor& x, const Inputs& inputs) = 0;
    // Shape of one sample's output, for any layer but the last.
    virtual std::vector<std::int64_t> output_shape(std::size_t layer) const = 0;

    torch::Tensor forward(const Inputs& inputs) final
    {
        torch::Tensor x;
        for (std::size_t layer = 0; layer < layers(); ++layer) {
            const ModuleScope scope{layer_name(layer).c_str()};
            x = forward_layer(layer, x, inputs);
        }
        return x;
    }
};

// A sequence of modules, each recorded as a region in traces that show modules.
class NamedLayers : public torch::nn::Module {
 public:
    void add(const std::string& name, const torch::nn::Sequential& layer)
    {
        register_module(name, layer);
        layers_.emplace_back(name, layer);
    }

    std::size_t count() const { return layers_.size(); }
    const std::string& name(std::size_t layer) const { return layers_[layer].first; }
    torch::Tensor forward(std::size_t layer, const torch::Tensor& x) { return layers_[layer].second->forward(x); }

    torch::Tensor forward(torch::Tensor x)
    {
        for (auto& [name, layer] : layers_) {
            const ModuleScope scope{name.c_str()};
            x = layer->forward(x);
        }
        return x;
    }

 private:
    std::vector<std::pair<std::string, torch::nn::Sequential>> layers_;
};

}  // namespace ddl
