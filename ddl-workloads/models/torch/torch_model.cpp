#include "ddl-workloads/models/torch/torch_model.hpp"

#include "base/error.hpp"
#include "ddl-workloads/strategies/torch/reducer.hpp"

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Debian's LibTorch computes matrix products with OpenBLAS, which has threads of its own. Other LibTorches lack these.
extern "C" void openblas_set_num_threads(int threads) __attribute__((weak));
extern "C" int openblas_get_num_threads() __attribute__((weak));

namespace ddl {

namespace {

void limit_threads(int threads)
{
    at::set_num_threads(threads);
    at::set_num_interop_threads(1);
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(threads);
}

std::span<std::byte> bytes(const torch::Tensor& tensor)
{
    if (!tensor.is_contiguous()) base::fail("a tensor of the model is not in one piece");
    return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

std::vector<std::span<std::byte>> bytes(const std::vector<torch::Tensor>& tensors)
{
    std::vector<std::span<std::byte>> all;
    for (const torch::Tensor& tensor : tensors) all.push_back(bytes(tensor));
    return all;
}

ElementType element_type(const torch::Tensor& tensor)
{
    switch (tensor.scalar_type()) {
        case torch::kFloat32:
            return ElementType::float32;
        case torch::kFloat64:
            return ElementType::float64;
        case torch::kInt32:
            return ElementType::int32;
        case torch::kInt64:
            return ElementType::int64;
        case torch::kUInt8:
            return ElementType::uint8;
        default:
            base::fail("no checkpoint can hold a tensor of ", std::string{tensor.dtype().name()});
    }
}

StateTensor state_tensor(std::string path, const torch::Tensor& tensor, Owner owner = Owner::any)
{
    return {.path = std::move(path),
            .type = element_type(tensor),
            .shape = tensor.sizes().vec(),
            .bytes = bytes(tensor),
            .owner = owner};
}

// Where an optimizer keeps what belongs to a parameter; the key is a text before LibTorch 2.1.
template <class Map>
std::unique_ptr<torch::optim::OptimizerParamState>& place_of(Map& all, const torch::Tensor& parameter)
{
    if constexpr (std::is_same_v<typename Map::key_type, std::string>)
        return all[c10::guts::to_string(parameter.unsafeGetTensorImpl())];
    else
        return all[parameter.unsafeGetTensorImpl()];
}

template <class Kept>
Kept& kept_of(torch::optim::Optimizer& optimizer, const torch::Tensor& parameter)
{
    auto& kept = place_of(optimizer.state(), parameter);
    if (!kept) kept = std::make_unique<Kept>();  // as the optimizer itself would at its first step
    return static_cast<Kept&>(*kept);
}

// In one piece, and zeros if the optimizer would make them at its first step.
torch::Tensor whole(const torch::Tensor& kept, const torch::Tensor& parameter)
{
    return kept.defined() ? kept.contiguous() : torch::zeros_like(parameter, torch::MemoryFormat::Contiguous).detach();
}

void add_state_of_sgd(std::vector<StateTensor>& all, torch::optim::Optimizer& optimizer, const std::string& name,
                      const torch::Tensor& parameter)
{
    auto& kept = kept_of<torch::optim::SGDParamState>(optimizer, parameter);
    kept.momentum_buffer(whole(kept.momentum_buffer(), parameter));
    all.push_back(state_tensor("optimizer/momentum/" + name, kept.momentum_buffer()));
}

void add_state_of_adamw(std::vector<StateTensor>& all, torch::optim::Optimizer& optimizer, const std::string& name,
                        const torch::Tensor& parameter)
{
    auto& kept = kept_of<torch::optim::AdamWParamState>(optimizer, parameter);
    kept.exp_avg(whole(kept.exp_avg(), parameter));
    kept.exp_avg_sq(whole(kept.exp_avg_sq(), parameter));
    all.push_back(state_tensor("optimizer/exp_avg/" + name, kept.exp_avg()));
    all.push_back(state_tensor("optimizer/exp_avg_sq/" + name, kept.exp_avg_sq()));
    all.push_back({.path = "optimizer/step/" + name,
                   .type = ElementType::int64,
                   .shape = {},
                   .bytes = std::as_writable_bytes(std::span{&kept.step(), 1})});
}

std::unique_ptr<torch::optim::Optimizer> optimizer(const std::vector<torch::Tensor>& parameters,
                                                   const OptimizerPlan& plan)
{
    using namespace torch::optim;
    if (plan.name == "adamw")
        return std::make_unique<AdamW>(parameters, AdamWOptions(plan.learning_rate).weight_decay(plan.weight_decay));
    return std::make_unique<SGD>(
        parameters, SGDOptions(plan.learning_rate).momentum(plan.momentum).weight_decay(plan.weight_decay));
}

class TorchModel : public Model {
 public:
    TorchModel(std::shared_ptr<Network> network, const ModelPlan& plan)
        : shape_{plan.shape},
          optimizer_plan_{plan.optimizer},
          network_{std::move(network)},
          parameters_{network_->parameters()},
          optimizer_{optimizer(parameters_, plan.optimizer)}
    {
    }

    std::vector<std::span<std::byte>> parameters() override { return bytes(parameters_); }
    std::vector<std::span<std::byte>> statistics() override { return bytes(network_->buffers()); }

    std::vector<StateTensor> state() override
    {
        std::vector<StateTensor> all;
        for (const auto& parameter : network_->named_parameters())
            all.push_back(state_tensor("model/" + parameter.key(), parameter.value()));
        for (const auto& buffer : network_->named_buffers())
            all.push_back(state_tensor("model/" + buffer.key(), buffer.value(), Owner::rank0));
        for (const auto& parameter : network_->named_parameters())
            if (optimizer_plan_.name == "adamw")
                add_state_of_adamw(all, *optimizer_, parameter.key(), parameter.value());
            else if (optimizer_plan_.momentum != 0.0)
                add_state_of_sgd(all, *optimizer_, parameter.key(), parameter.value());
        random_state_ = at::detail::getDefaultCPUGenerator().get_state();
        all.push_back(state_tensor("meta/torch_random", random_state_, Owner::rank0));
        return all;
    }

    void restored() override
    {
        at::Generator generator = at::detail::getDefaultCPUGenerator();
        generator.set_state(random_state_);
    }

    std::int64_t parameter_count() const override
    {
        std::int64_t count = 0;
        for (const torch::Tensor& parameter : parameters_) count += parameter.numel();
        return count;
    }

    void exchange_in_buckets(const BucketCaps& caps, Transport& transport, StartExchange start) override
    {
        reducer_ = make_reducer(parameters_, caps, transport, std::move(start));
    }

    void take(Batch batch) override
    {
        batch_ = std::move(batch);
        images_ = images_of(batch_);
        labels_ = labels_of(batch_);
    }

    void forward() override
    {
        if (reducer_) reducer_->before_forward();
        loss_ = torch::nn::functional::cross_entropy(network_->forward(images_), labels_);
        loss_value_ = loss_.item<double>();
    }

    void backward() override
    {
        if (reducer_) reducer_->before_backward();
        loss_.backward();
        loss_.reset();
    }

    void update() override
    {
        optimizer_->step();
        for (torch::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
    }

    std::vector<std::span<float>> gradients() override
    {
        std::vector<std::span<float>> all;
        for (const torch::Tensor& parameter : parameters_) {
            const torch::Tensor& gradient = parameter.grad();
            if (!gradient.is_non_overlapping_and_dense()) base::fail("a gradient is not in one piece");
            all.emplace_back(gradient.data_ptr<float>(), static_cast<std::size_t>(gradient.numel()));
        }
        return all;
    }

    std::optional<double> loss() const override { return loss_value_; }

    std::int64_t count_correct(const Batch& batch) override
    {
        const torch::NoGradGuard no_gradients;
        network_->eval();
        const torch::Tensor guesses = network_->forward(images_of(batch)).argmax(1);
        network_->train();
        return guesses.eq(labels_of(batch)).sum().item<std::int64_t>();
    }

    nlohmann::ordered_json describe() const override
    {
        nlohmann::ordered_json json;
        json["torch"] = TORCH_VERSION;
        json["torch_threads"] = at::get_num_threads();
        if (openblas_get_num_threads != nullptr) json["openblas_threads"] = openblas_get_num_threads();
        return json;
    }

 private:
    // Views: the batch must live as long. LibTorch wants memory that could be written to, but does not write.
    torch::Tensor images_of(const Batch& batch) const
    {
        return torch::from_blob(const_cast<float*>(batch.images.data()),
                                {batch.samples, shape_.channels, shape_.height, shape_.width});
    }
    static torch::Tensor labels_of(const Batch& batch)
    {
        return torch::from_blob(const_cast<std::int64_t*>(batch.labels.data()), {batch.samples}, torch::kInt64);
    }

    ImageShape shape_;
    OptimizerPlan optimizer_plan_;
    std::shared_ptr<Network> network_;
    std::vector<torch::Tensor> parameters_;
    std::unique_ptr<torch::optim::Optimizer> optimizer_;
    std::unique_ptr<Reducer> reducer_;
    torch::Tensor random_state_;
    Batch batch_;
    torch::Tensor images_;
    torch::Tensor labels_;
    torch::Tensor loss_;
    std::optional<double> loss_value_;
};

}  // namespace

std::unique_ptr<Model> torch_model(const std::function<std::shared_ptr<Network>()>& build, const ModelPlan& plan)
{
    limit_threads(plan.threads);
    c10::SetStackTraceFetcher([] { return std::string{}; });  // an error is one line, not thirty addresses
    torch::manual_seed(plan.seed);
    return std::make_unique<TorchModel>(build(), plan);
}

}  // namespace ddl
