// SPDX-License-Identifier: Apache-2.0
// Residual networks (He et al. 2015, https://arxiv.org/abs/1512.03385): ResNet-18 and -34 with plain blocks, ResNet-50
// with bottlenecks, whose stride is in the 3x3 convolution as in most libraries. `width` is the number of channels in
// the first stage (64 in the paper).
#include "ddl-workloads/models/torch/torch_dense.hpp"
#include "ddl-workloads/models/torch/torch_model.hpp"
#include "ddl-workloads/models/torch_makers.hpp"

#include <array>

namespace ddl {

namespace {

namespace nn = torch::nn;

nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t stride)
{
    return nn::Conv2d{nn::Conv2dOptions(in, out, size).stride(stride).padding(size / 2).bias(false)};
}

// A residual branch added to a shortcut; the shortcut is a 1x1 convolution if the shape changes.
class ResidualBlock : public nn::Module {
 public:
    ResidualBlock(nn::Sequential residual, std::int64_t in, std::int64_t out, std::int64_t stride)
        : residual_{std::move(residual)}
    {
        register_module("residual", residual_);
        if (stride == 1 && in == out) return;
        shortcut_ = nn::Sequential{convolution(in, out, 1, stride), nn::BatchNorm2d{out}};
        register_module("shortcut", shortcut_);
    }

    torch::Tensor forward(const torch::Tensor& x)
    {
        return torch::relu(residual_->forward(x) + (shortcut_ ? shortcut_->forward(x) : x));
    }

 private:
    nn::Sequential residual_;
    nn::Sequential shortcut_{nullptr};
};

ResidualBlock plain(std::int64_t in, std::int64_t width, std::int64_t stride)
{
    return {nn::Sequential{convolution(in, width, 3, stride), nn::BatchNorm2d{width}, nn::ReLU{},
                           convolution(width, width, 3, 1), nn::BatchNorm2d{width}},
            in, width, stride};
}

constexpr std::int64_t bottleneck_expansion = 4;

ResidualBlock bottleneck(std::int64_t in, std::int64_t width, std::int64_t stride)
{
    const std::int64_t out = bottleneck_expansion * width;
    return {nn::Sequential{convolution(in, width, 1, 1), nn::BatchNorm2d{width}, nn::ReLU{},
                           convolution(width, width, 3, stride), nn::BatchNorm2d{width}, nn::ReLU{},
                           convolution(width, out, 1, 1), nn::BatchNorm2d{out}},
            in, out, stride};
}

struct Depth {
    const char* name;
    std::array<int, 4> blocks;  // number of blocks in each stage
    bool bottlenecks = false;
};
constexpr Depth depth18{"resnet18", {2, 2, 2, 2}};
constexpr Depth depth34{"resnet34", {3, 4, 6, 3}};
constexpr Depth depth50{"resnet50", {3, 4, 6, 3}, true};

// The first layer. For small images it is a 3x3 convolution without stride or pooling, as usual for CIFAR.
enum class Stem { cifar, imagenet };

class ResNet : public Network {
 public:
    ResNet(const SampleShape& shape, const Depth& depth, std::int64_t width, Stem stem)
    {
        nn::Sequential entry{
            stem == Stem::cifar ? convolution(shape.channels, width, 3, 1) : convolution(shape.channels, width, 7, 2),
            nn::BatchNorm2d{width}, nn::ReLU{}};
        if (stem == Stem::imagenet) entry->push_back(nn::MaxPool2d{nn::MaxPool2dOptions(3).stride(2).padding(1)});
        layers_->add("stem", entry);
        std::int64_t in = width;
        for (std::size_t stage = 0; stage < depth.blocks.size(); ++stage) {
            const std::int64_t stage_width = width << stage;
            for (int block = 0; block < depth.blocks[stage]; ++block) {
                const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
                layers_->add(base::join("stage ", stage, " block ", block),
                             nn::Sequential{(depth.bottlenecks ? bottleneck : plain)(in, stage_width, stride)});
                in = depth.bottlenecks ? bottleneck_expansion * stage_width : stage_width;
            }
        }
        layers_->add("head", nn::Sequential{nn::AdaptiveAvgPool2d{1}, nn::Flatten{}, Dense{in, shape.classes}});
        register_module("layers", layers_);
    }

    torch::Tensor forward(const Inputs& inputs) override { return layers_->forward(inputs.images); }

 private:
    std::shared_ptr<NamedLayers> layers_ = std::make_shared<NamedLayers>();
};

std::unique_ptr<Model> made(const Depth& depth, const base::Settings& settings, const ModelPlan& plan)
{
    check_images(depth.name, plan.shape);
    const auto width = settings.get<std::int64_t>("width");
    if (width < 1) base::fail_usage(depth.name, "[width] must be at least 1");
    const std::string& stem = settings.text("stem");
    if (stem != "cifar" && stem != "imagenet")
        base::fail_usage(depth.name, "[stem] must be cifar or imagenet, not ", stem);
    return torch_model(
        [&] {
            return std::make_shared<ResNet>(plan.shape, depth, width, stem == "cifar" ? Stem::cifar : Stem::imagenet);
        },
        plan);
}

}  // namespace

std::unique_ptr<Model> make_resnet18(const base::Settings& settings, const ModelPlan& plan)
{
    return made(depth18, settings, plan);
}

std::unique_ptr<Model> make_resnet34(const base::Settings& settings, const ModelPlan& plan)
{
    return made(depth34, settings, plan);
}

std::unique_ptr<Model> make_resnet50(const base::Settings& settings, const ModelPlan& plan)
{
    return made(depth50, settings, plan);
}

}  // namespace ddl
