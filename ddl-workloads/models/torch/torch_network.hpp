// SPDX-License-Identifier: Apache-2.0
// Networks of LibTorch's, as torch_model() takes them.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ddl {

// A batch as tensors: views of it, so it must live as long.
struct Inputs {
    torch::Tensor images;  // samples x channels x height x width; of clicks samples x dense
    torch::Tensor labels;  // samples; none of text
    torch::Tensor tokens;  // of text samples x (length + 1), of clicks samples x categories
};

// Part of a network that only this rank holds, as the network is divided over the ranks; exchanged and updated
// separately.
class OwnPart {
 public:
    virtual ~OwnPart() = default;
    virtual std::vector<torch::Tensor> parameters() = 0;
    virtual std::int64_t parameters_of_all_ranks() const = 0;
    // After backward: its gradients are there.
    virtual void finish_backward() = 0;
    virtual void update() = 0;
};

class Network : public torch::nn::Module {
 public:
    // Scores: a row for each answer that is asked for, a column for each class.
    virtual torch::Tensor forward(const Inputs& inputs) = 0;
    // The right answers, one for each row of scores.
    virtual torch::Tensor answers(const Inputs& inputs) const { return inputs.labels; }
    virtual torch::Tensor loss(const torch::Tensor& scores, const torch::Tensor& answers) const
    {
        return torch::nn::functional::cross_entropy(scores, answers);
    }
    virtual torch::Tensor guesses(const torch::Tensor& scores) const { return scores.argmax(1); }
    virtual OwnPart* own_part() { return nullptr; }
};

// A region of this name from here to the brace, in a trace that shows modules.
class ModuleScope {
 public:
    explicit ModuleScope(const char* name) : function_{at::RecordScope::USER_SCOPE}
    {
        if (function_.isActive()) function_.before(name);
    }

 private:
    at::RecordFunction function_;
};

// A network of layers, each of which takes what the one before it gives.
class LayeredNetwork : public Network {
 public:
    virtual std::size_t layers() const = 0;
    virtual std::string layer_name(std::size_t layer) const = 0;
    // The first takes the inputs, and no tensor; the last gives scores.
    virtual torch::Tensor forward_layer(std::size_t layer, const torch::Tensor& x, const Inputs& inputs) = 0;
    // Shape of a sample's output of any layer but the last.
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

// Modules one after the other, each a region in a trace that shows modules.
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
