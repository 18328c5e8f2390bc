// ResNet-18 for small images (He et al. 2015, https://arxiv.org/abs/1512.03385): the first layer is a 3x3 convolution
// without stride or pooling, as usual for CIFAR. `width` channels in the first stage, 64 in the paper.
#include "ddl-workloads/models/torch/torch_model.hpp"

namespace ddl {

namespace {

namespace nn = torch::nn;

nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t stride)
{
    return nn::Conv2d{nn::Conv2dOptions(in, out, size).stride(stride).padding(size / 2).bias(false)};
}

// Two convolutions beside a shortcut, which is a 1x1 convolution where the shape changes.
class Block : public nn::Module {
 public:
    Block(std::int64_t in, std::int64_t out, std::int64_t stride)
        : residual_{convolution(in, out, 3, stride), nn::BatchNorm2d{out}, nn::ReLU{}, convolution(out, out, 3, 1),
                    nn::BatchNorm2d{out}}
    {
        register_module("residual", residual_);
        if (stride == 1 && in == out) return;
        shortcut_ = nn::Sequential{convolution(in, out, 1, stride), nn::BatchNorm2d{out}};
        register_module("shortcut", shortcut_);
    }

    torch::Tensor forward(torch::Tensor x)
    {
        return torch::relu(residual_->forward(x) + (shortcut_ ? shortcut_->forward(x) : x));
    }

 private:
    nn::Sequential residual_;
    nn::Sequential shortcut_{nullptr};
};

class ResNet18 : public Network {
 public:
    ResNet18(const ImageShape& shape, std::int64_t width)
    {
        layers_->push_back(convolution(shape.channels, width, 3, 1));
        layers_->push_back(nn::BatchNorm2d{width});
        layers_->push_back(nn::ReLU{});
        std::int64_t in = width;
        for (const std::int64_t stage : {1, 2, 4, 8}) {
            layers_->push_back(Block{in, stage * width, stage == 1 ? 1 : 2});
            layers_->push_back(Block{stage * width, stage * width, 1});
            in = stage * width;
        }
        layers_->push_back(nn::AdaptiveAvgPool2d{1});
        layers_->push_back(nn::Flatten{});
        layers_->push_back(nn::Linear{in, shape.classes});
        register_module("layers", layers_);
    }

    torch::Tensor forward(torch::Tensor images) override { return layers_->forward(images); }

 private:
    nn::Sequential layers_;
};

}  // namespace

extern const ModelCard resnet18_model;
const ModelCard resnet18_model{
    .name = "resnet18",
    .summary = "ResNet-18 for small images",
    .options = {{"width", "64", "channels of the first stage"}},
    .make = [](const base::Settings& settings, const ModelPlan& plan) -> std::unique_ptr<Model> {
        const auto width = settings.get<std::int64_t>("width");
        if (width < 1) base::fail_usage("resnet18[width] must be at least 1");
        return torch_model([&] { return std::make_shared<ResNet18>(plan.shape, width); }, plan);
    },
};

}  // namespace ddl
