// SPDX-License-Identifier: Apache-2.0
// A transformer that predicts the next byte: blocks of GPT-2 (Radford et al. 2019) with pre-normalisation, learned
// positions, an output head tied to the byte embedding, and no dropout. With width W, C positions, V words and L blocks
// it has V W + C W + L (12 W^2 + 13 W) + 2 W parameters.
#include "ddl-workloads/models/torch/torch_dense.hpp"
#include "ddl-workloads/models/torch/torch_model.hpp"
#include "ddl-workloads/models/torch_makers.hpp"

#include <cmath>
#include <limits>
#include <map>

namespace ddl {

namespace {

namespace nn = torch::nn;

struct Size {
    std::int64_t layers = 4;
    std::int64_t width = 128;
    std::int64_t heads = 4;
};

constexpr double deviation = 0.02;  // standard deviation of initial weights, as in GPT-2

Dense linear(std::int64_t in, std::int64_t out, double weight_deviation = deviation)
{
    Dense layer{in, out};
    nn::init::normal_(layer->weight, 0.0, weight_deviation);
    nn::init::zeros_(layer->bias);
    return layer;
}

nn::Embedding embedding(std::int64_t words, std::int64_t width)
{
    nn::Embedding table{words, width};
    nn::init::normal_(table->weight, 0.0, deviation);
    return table;
}

nn::LayerNorm norm(std::int64_t width)
{
    return nn::LayerNorm{nn::LayerNormOptions({width})};
}

// Causal self-attention: each position attends to itself and to earlier positions. Input and output are samples x
// positions x width.
class Attention : public nn::Module {
 public:
    Attention(std::int64_t width, std::int64_t heads, std::int64_t context, double output_deviation)
        : heads_{heads},
          input_{linear(width, 3 * width)},
          output_{linear(width, width, output_deviation)},
          future_{torch::ones({context, context}, torch::kBool).triu(1)}
    {
        register_module("input", input_);
        register_module("output", output_);
    }

    torch::Tensor forward(const torch::Tensor& x)
    {
        const ModuleScope scope{"attention"};
        const std::int64_t samples = x.size(0);
        const std::int64_t positions = x.size(1);
        const std::int64_t width = x.size(2);
        const std::int64_t head_width = width / heads_;
        // each of queries, keys and values is samples x heads x positions x width of a head
        const std::vector<torch::Tensor> parts =
            input_->forward(x).view({samples, positions, 3, heads_, head_width}).permute({2, 0, 3, 1, 4}).unbind(0);
        if (future_.device() != x.device()) future_ = future_.to(x.device());
        const torch::Tensor future = future_.narrow(0, 0, positions).narrow(1, 0, positions);
        const torch::Tensor scores =
            torch::matmul(parts[0] / std::sqrt(static_cast<double>(head_width)), parts[1].transpose(2, 3))
                .masked_fill(future, -std::numeric_limits<float>::infinity());
        const torch::Tensor seen = torch::matmul(scores.softmax(-1), parts[2]);
        return output_->forward(seen.transpose(1, 2).reshape({samples, positions, width}));
    }

 private:
    std::int64_t heads_;
    Dense input_;
    Dense output_;
    torch::Tensor future_;
};

class DecoderBlock : public nn::Module {
 public:
    DecoderBlock(const Size& size, std::int64_t context)
        : DecoderBlock{size, context, deviation / std::sqrt(2.0 * static_cast<double>(size.layers))}
    {
    }

    torch::Tensor forward(const torch::Tensor& x)
    {
        const torch::Tensor attended = x + attention_->forward(attention_norm_->forward(x));
        const ModuleScope scope{"feed_forward"};
        return attended + contract_->forward(torch::gelu(expand_->forward(forward_norm_->forward(attended))));
    }

 private:
    // `output_deviation` is smaller the more blocks add to the residual.
    DecoderBlock(const Size& size, std::int64_t context, double output_deviation)
        : attention_norm_{norm(size.width)},
          attention_{std::make_shared<Attention>(size.width, size.heads, context, output_deviation)},
          forward_norm_{norm(size.width)},
          expand_{linear(size.width, 4 * size.width)},
          contract_{linear(4 * size.width, size.width, output_deviation)}
    {
        register_module("attention_norm", attention_norm_);
        register_module("attention", attention_);
        register_module("forward_norm", forward_norm_);
        register_module("expand", expand_);
        register_module("contract", contract_);
    }

    nn::LayerNorm attention_norm_;
    std::shared_ptr<Attention> attention_;
    nn::LayerNorm forward_norm_;
    Dense expand_;
    Dense contract_;
};

class Gpt : public LayeredNetwork {
 public:
    Gpt(const Size& size, std::int64_t length, std::int64_t context, std::int64_t vocabulary)
        : length_{length},
          width_{size.width},
          words_{embedding(vocabulary, size.width)},
          positions_{embedding(context, size.width)},
          norm_{norm(size.width)}
    {
        register_module("words", words_);
        register_module("positions", positions_);
        for (std::int64_t layer = 0; layer < size.layers; ++layer)
            blocks_->add(base::join("block ", layer), nn::Sequential{DecoderBlock{size, context}});
        register_module("blocks", blocks_);
        register_module("norm", norm_);
    }

    std::size_t layers() const override { return blocks_->count() + 2; }
    std::string layer_name(std::size_t layer) const override
    {
        return layer == 0 ? "embedding" : layer == blocks_->count() + 1 ? "head" : blocks_->name(layer - 1);
    }
    torch::Tensor forward_layer(std::size_t layer, const torch::Tensor& x, const Inputs& inputs) override
    {
        if (layer == 0) return embedded(inputs.tokens);
        if (layer <= blocks_->count()) return blocks_->forward(layer - 1, x);
        return torch::matmul(norm_->forward(x), words_->weight.t()).flatten(0, 1);
    }
    std::vector<std::int64_t> output_shape(std::size_t) const override { return {length_, width_}; }

    torch::Tensor answers(const Inputs& inputs) const override
    {
        return inputs.tokens.narrow(1, 1, inputs.tokens.size(1) - 1).flatten();
    }

 private:
    // Embeds all tokens but the last, which is only predicted.
    torch::Tensor embedded(const torch::Tensor& tokens)
    {
        const std::int64_t length = tokens.size(1) - 1;
        return words_->forward(tokens.narrow(1, 0, length)) + positions_->weight.narrow(0, 0, length);
    }

    std::int64_t length_;
    std::int64_t width_;
    nn::Embedding words_;
    nn::Embedding positions_;
    std::shared_ptr<NamedLayers> blocks_ = std::make_shared<NamedLayers>();
    nn::LayerNorm norm_;
};

const std::map<std::string, Size>& sizes()
{
    static const std::map<std::string, Size> known{{"nano", {}}, {"micro", {6, 384, 6}}, {"small", {12, 768, 12}}};
    return known;
}

Size size(const base::Settings& settings)
{
    const std::string& name = settings.text("size");
    const auto known = sizes().find(name);
    if (known == sizes().end()) base::fail_usage("gpt[size] must be nano, micro or small, not ", name);
    Size size = known->second;
    for (const auto& [option, value] :
         {std::pair{"layers", &size.layers}, std::pair{"width", &size.width}, std::pair{"heads", &size.heads}}) {
        if (!settings.text(option).empty()) *value = settings.get<std::int64_t>(option);
        if (*value < 1) base::fail_usage("gpt[", option, "] must be at least 1");
    }
    if (size.width % size.heads != 0)
        base::fail_usage("gpt: a width of ", size.width, " cannot be divided among ", size.heads, " heads");
    return size;
}

std::int64_t no_less(const base::Settings& settings, const std::string& option, std::int64_t least)
{
    const auto value = settings.text(option).empty() ? least : settings.get<std::int64_t>(option);
    if (value < least) base::fail_usage("gpt[", option, "]: ", value, " is less than the ", least, " of the data");
    return value;
}

}  // namespace

std::unique_ptr<Model> make_gpt(const base::Settings& settings, const ModelPlan& plan)
{
    if (plan.shape.kind != SampleShape::Kind::text) base::fail_usage("gpt is trained on text: --data text");
    const Size chosen = size(settings);
    const std::int64_t context = no_less(settings, "context", plan.shape.length);
    const std::int64_t vocabulary = no_less(settings, "vocabulary", plan.shape.classes);
    return torch_model([&] { return std::make_shared<Gpt>(chosen, plan.shape.length, context, vocabulary); }, plan);
}

}  // namespace ddl
