#include "ddl-workloads/models/torch/torch_model.hpp"

#include "base/error.hpp"
#include "ddl-workloads/models/torch/operator_recorder.hpp"
#include "ddl-workloads/models/torch/parameter_shards.hpp"
#include "ddl-workloads/models/torch/reducer.hpp"

#include <nlohmann/json.hpp>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>

#include <mutex>
#include <optional>
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
    static std::once_flag said;  // LibTorch takes it only once
    std::call_once(said, [] { at::set_num_interop_threads(1); });
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

// LibTorch wants memory that could be written to, but does not write.
template <class Number>
torch::Tensor view(const std::vector<Number>& numbers, at::IntArrayRef shape)
{
    return torch::from_blob(const_cast<Number*>(numbers.data()), shape, c10::CppTypeToScalarType<Number>::value);
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
        return all[base::join(parameter.unsafeGetTensorImpl())];
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
                      const torch::Tensor& parameter, Owner owner)
{
    auto& kept = kept_of<torch::optim::SGDParamState>(optimizer, parameter);
    kept.momentum_buffer(whole(kept.momentum_buffer(), parameter));
    all.push_back(state_tensor("optimizer/momentum/" + name, kept.momentum_buffer(), owner));
}

void add_state_of_adamw(std::vector<StateTensor>& all, torch::optim::Optimizer& optimizer, const std::string& name,
                        const torch::Tensor& parameter, Owner owner)
{
    auto& kept = kept_of<torch::optim::AdamWParamState>(optimizer, parameter);
    kept.exp_avg(whole(kept.exp_avg(), parameter));
    kept.exp_avg_sq(whole(kept.exp_avg_sq(), parameter));
    all.push_back(state_tensor("optimizer/exp_avg/" + name, kept.exp_avg(), owner));
    all.push_back(state_tensor("optimizer/exp_avg_sq/" + name, kept.exp_avg_sq(), owner));
    all.push_back({.path = "optimizer/step/" + name,
                   .type = ElementType::int64,
                   .shape = {},
                   .bytes = std::as_writable_bytes(std::span{&kept.step(), 1}),
                   .owner = owner});
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
          network_{std::move(network)},
          parameters_{network_->parameters()},
          optimizer_plan_{plan.optimizer},
          optimizer_{optimizer(parameters_, plan.optimizer)}
    {
        if (plan.details != nullptr && plan.details->level() != DetailLevel::L0) operators_.emplace(*plan.details);
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
        if (OwnPart* const own = network_->own_part())
            for (std::size_t i = 0; const torch::Tensor& parameter : own->parameters())
                all.push_back(state_tensor(base::join("model/own.", i++), parameter, Owner::each));
        if (shards_)
            add_optimizer_state(all, "shard", shards_->mine(), Owner::each);
        else
            for (const auto& parameter : network_->named_parameters())
                add_optimizer_state(all, parameter.key(), parameter.value(), Owner::any);
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
        OwnPart* const own = network_->own_part();
        std::int64_t count = own != nullptr ? own->parameters_of_all_ranks() : 0;
        for (const torch::Tensor& parameter : parameters_) count += parameter.numel();
        return count;
    }

    std::vector<std::span<std::byte>> own_parameters() override
    {
        OwnPart* const own = network_->own_part();
        return own != nullptr ? bytes(own->parameters()) : std::vector<std::span<std::byte>>{};
    }

    void exchange_in_buckets(const BucketCaps& caps, ExchangeThread& exchanges, StartExchange start) override
    {
        reducer_ = make_reducer(parameters_, caps, exchanges, shards_ ? &*shards_ : nullptr, std::move(start));
    }

    void announce_gradients(GradientReady ready) override
    {
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            // LibTorch itself keeps an accumulator no longer than a graph needs it.
            accumulators_.push_back(torch::autograd::impl::grad_accumulator(parameters_[i]));
            const auto tell = [this, i, ready](const auto& outputs, const auto&) {
                if (is_last_pass()) ready(i, gradient(parameters_[i]));
                return outputs;
            };
            accumulators_.back()->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(tell));
        }
    }

    // What autograd hands on is the tensor that the hook returns.
    void alter_gradients(const std::vector<std::size_t>& tensors, AlterGradient alter) override
    {
        for (const std::size_t i : tensors) {
            const auto altered = [this, i, alter](const torch::Tensor& gradient) {
                torch::Tensor copy = gradient.clone(torch::MemoryFormat::Contiguous);
                if (is_last_pass()) alter(i, {copy.data_ptr<float>(), static_cast<std::size_t>(copy.numel())});
                return copy;
            };
            parameters_[i].register_hook(altered);
        }
    }

    std::span<std::byte> update_shard(int shard, int shards) override
    {
        shards_.emplace(parameters_, shard, shards);
        optimizer_ = optimizer({shards_->mine()}, optimizer_plan_);
        return bytes(shards_->all());
    }

    void accumulate(int passes) override { passes_ = passes; }

    void take(Batch batch) override
    {
        batch_ = std::move(batch);
        inputs_ = inputs_of(batch_);
    }

    void forward() override
    {
        if (reducer_ && is_last_pass()) reducer_->before_forward();
        const torch::Tensor scores = network_->forward(inputs_);
        loss_ = network_->loss(scores, network_->answers(inputs_));
        loss_value_ = loss_.item<double>();
    }

    void backward() override
    {
        if (reducer_ && is_last_pass()) reducer_->before_backward(loss_);
        const torch::Tensor share = passes_ == 1 ? loss_ : loss_ / passes_;
        share.backward();
        loss_.reset();
        if (OwnPart* const own = network_->own_part()) own->finish_backward();
        ++pass_;
    }

    void update() override
    {
        if (shards_) shards_->take_gradients();
        optimizer_->step();
        for (torch::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
        if (OwnPart* const own = network_->own_part()) own->update();
        pass_ = 0;
    }

    std::vector<std::span<float>> gradients() override
    {
        if (shards_) return shards_->gradients();
        std::vector<std::span<float>> all;
        for (const torch::Tensor& parameter : parameters_) all.push_back(gradient(parameter));
        return all;
    }

    std::vector<std::string> gradient_names() override { return network_->named_parameters().keys(); }

    bool learns() const override { return true; }
    std::optional<double> loss() const override { return loss_value_; }

    std::int64_t count_correct(const Batch& batch) override
    {
        if (batch.samples == 0 && network_->own_part() == nullptr) return 0;
        const torch::NoGradGuard no_gradients;
        const Inputs inputs = inputs_of(batch);
        network_->eval();
        const torch::Tensor guesses = network_->guesses(network_->forward(inputs));
        network_->train();
        return guesses.eq(network_->answers(inputs)).sum().item<std::int64_t>();
    }

    nlohmann::ordered_json describe() const override
    {
        nlohmann::ordered_json json;
        json["torch"] = TORCH_VERSION;
        json["updated_parameters"] = shards_ ? shards_->parameter_count() : parameter_count();
        json["torch_threads"] = at::get_num_threads();
        if (openblas_get_num_threads != nullptr) json["openblas_threads"] = openblas_get_num_threads();
        if (reducer_) json["ddp_logger"] = reducer_->logged();
        return json;
    }

 private:
    bool is_last_pass() const { return pass_ + 1 == passes_; }

    void add_optimizer_state(std::vector<StateTensor>& all, const std::string& name, const torch::Tensor& parameter,
                             Owner owner)
    {
        if (optimizer_plan_.name == "adamw")
            add_state_of_adamw(all, *optimizer_, name, parameter, owner);
        else if (optimizer_plan_.momentum != 0.0)
            add_state_of_sgd(all, *optimizer_, name, parameter, owner);
    }

    static std::span<float> gradient(const torch::Tensor& parameter)
    {
        const torch::Tensor& gradient = parameter.grad();
        if (!gradient.is_non_overlapping_and_dense()) base::fail("a gradient is not in one piece");
        return {gradient.data_ptr<float>(), static_cast<std::size_t>(gradient.numel())};
    }

    Inputs inputs_of(const Batch& batch) const
    {
        const std::int64_t samples = batch.samples;
        switch (shape_.kind) {
            case SampleShape::Kind::text:
                return {.images = {}, .labels = {}, .tokens = view(batch.tokens, {samples, shape_.length + 1})};
            case SampleShape::Kind::clicks:
                return {.images = view(batch.images, {samples, shape_.dense}),
                        .labels = view(batch.labels, {samples}),
                        .tokens = view(batch.tokens, {samples, shape_.categories})};
            case SampleShape::Kind::image:
                break;
        }
        return {.images = view(batch.images, {samples, shape_.channels, shape_.height, shape_.width}),
                .labels = view(batch.labels, {samples}),
                .tokens = {}};
    }

    SampleShape shape_;
    std::shared_ptr<Network> network_;
    std::vector<torch::Tensor> parameters_;
    OptimizerPlan optimizer_plan_;
    std::unique_ptr<torch::optim::Optimizer> optimizer_;
    std::optional<ParameterShards> shards_;  // none: all parameters are updated here
    std::unique_ptr<Reducer> reducer_;
    // A pointer of the standard library's; in later versions of LibTorch, one of its own.
    using Accumulator = decltype(torch::autograd::impl::grad_accumulator(torch::Tensor{}));
    std::vector<Accumulator> accumulators_;
    int passes_ = 1;
    int pass_ = 0;  // of this step
    torch::Tensor random_state_;
    Batch batch_;
    Inputs inputs_;
    torch::Tensor loss_;
    std::optional<double> loss_value_;
    std::optional<OperatorRecorder> operators_;
};

}  // namespace

void check_images(const std::string& model, const SampleShape& shape)
{
    if (shape.kind != SampleShape::Kind::image)
        base::fail_usage(model, " is trained on images, such as --data digits, not on ",
                         shape.kind == SampleShape::Kind::text ? "text" : "clicks");
}

std::unique_ptr<Model> torch_model(const std::function<std::shared_ptr<Network>()>& build, const ModelPlan& plan)
{
    limit_threads(plan.threads);
    c10::SetStackTraceFetcher([] { return std::string{}; });  // an error is one line, not thirty addresses
    torch::manual_seed(plan.seed);
    return std::make_unique<TorchModel>(build(), plan);
}

}  // namespace ddl
