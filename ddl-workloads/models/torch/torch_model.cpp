// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch/torch_model.hpp"

#include "base/error.hpp"
#include "ddl-workloads/models/gradient_model.hpp"
#include "ddl-workloads/models/torch/device/device_graph.hpp"
#include "ddl-workloads/models/torch/device/host_copies.hpp"
#include "ddl-workloads/models/torch/operator_recorder.hpp"
#include "ddl-workloads/models/torch/parameter_shards.hpp"
#include "ddl-workloads/models/torch/reducer.hpp"
#include "ddl-workloads/models/torch/threads.hpp"
#include "ddl-workloads/models/torch/torch_dense.hpp"
#include "ddl-workloads/models/torch/torch_inputs.hpp"
#include "ddl-workloads/models/torch/torch_layers.hpp"
#include "ddl-workloads/models/torch/torch_state.hpp"

#include <nlohmann/json.hpp>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ddl {

namespace {

std::vector<std::span<float>> floats(const std::vector<std::span<std::byte>>& memory)
{
    std::vector<std::span<float>> all;
    for (const std::span<std::byte> bytes : memory)
        all.emplace_back(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
    return all;
}

class TorchModel : public GradientModel {
 public:
    TorchModel(std::shared_ptr<Network> network, const TorchDevice& device, const ModelPlan& plan)
        : shape_{plan.shape},
          device_{device},
          network_{std::move(network)},
          parameters_{network_->parameters()},
          optimizer_plan_{plan.optimizer},
          optimizer_{make_optimizer(parameters_, plan.optimizer)}
    {
        if (device_.plan().graphs && network_->own_part() != nullptr)
            base::fail_usage("--cuda-graphs: a part of this model is not on the GPU");
        if (auto* const layered = dynamic_cast<LayeredNetwork*>(network_.get()))
            layers_.emplace(*layered, device_, [this](const Batch& batch) { return inputs_of(batch); });
        if (plan.details != nullptr && plan.details->level() != DetailLevel::L0) operators_.emplace(*plan.details);
    }

    std::vector<std::span<std::byte>> parameters() override { return seen_parameters_.of(network_->parameters()); }
    std::vector<std::span<std::byte>> statistics() override { return seen_statistics_.of(network_->buffers()); }

    void written(const std::vector<std::span<std::byte>>& memory) override
    {
        for (const HostCopies* seen : {&seen_parameters_, &seen_statistics_, &seen_shards_})
            if (!memory.empty() && seen->gave(memory.front())) seen->put_back();
    }

    std::vector<StateTensor> state() override
    {
        GatheredState all;
        for (const auto& parameter : network_->named_parameters())
            all.add("model/" + parameter.key(), parameter.value());
        for (const auto& buffer : network_->named_buffers())
            all.add("model/" + buffer.key(), buffer.value(), Owner::rank0);
        if (OwnPart* const own = network_->own_part())
            for (std::size_t i = 0; const torch::Tensor& parameter : own->parameters())
                all.add(base::join("model/own.", i++), parameter, Owner::each);
        if (shards_)
            add_optimizer_state(all, *optimizer_, optimizer_plan_, "shard", shards_->mine(), Owner::each);
        else
            for (const auto& parameter : network_->named_parameters())
                add_optimizer_state(all, *optimizer_, optimizer_plan_, parameter.key(), parameter.value(), Owner::any);
        random_state_ = at::detail::getDefaultCPUGenerator().get_state();
        all.add("meta/torch_random", random_state_, Owner::rank0);
        std::vector<StateTensor> state = all.seen_by(seen_state_);
        if (dense_)
            for (StateTensor& block : dense_->products()->state()) state.push_back(std::move(block));
        return state;
    }

    void restored() override
    {
        seen_state_.put_back();
        if (dense_) {  // a step may have been undone after some of its products
            drop_gradients();
            pass_ = 0;
            dense_->products()->restored();
        }
        at::Generator generator = at::detail::getDefaultCPUGenerator();
        generator.set_state(random_state_);
    }

    std::int64_t parameter_count() const override
    {
        OwnPart* const own = network_->own_part();
        std::int64_t count = own != nullptr ? own->parameters_of_all_ranks() : 0;
        for (const torch::Tensor& parameter : network_->parameters()) count += parameter.numel();
        return count;
    }

    std::vector<std::span<std::byte>> own_parameters() override
    {
        OwnPart* const own = network_->own_part();
        return own != nullptr ? seen_own_.of(own->parameters()) : std::vector<std::span<std::byte>>{};
    }

    void exchange_in_buckets(const BucketCaps& caps, ExchangeThread& exchanges, StartExchange start) override
    {
        reducer_ = make_reducer(parameters_, caps, device_, exchanges, shards_ ? &*shards_ : nullptr, std::move(start));
    }

    void announce_gradients(GradientReady ready) override
    {
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            // LibTorch destroys a gradient accumulator with the last graph that uses it, so a reference is kept here.
            accumulators_.push_back(torch::autograd::impl::grad_accumulator(parameters_[i]));
            const auto tell = [this, i, ready](const auto& outputs, const auto&) {
                if (is_last_pass()) announce(i, ready);
                return outputs;
            };
            accumulators_.back()->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(tell));
        }
    }

    // Autograd continues with the tensor that the hook returns.
    void alter_gradients(const std::vector<std::size_t>& tensors, AlterGradient alter) override
    {
        for (const std::size_t i : tensors) {
            const auto altered = [this, i, alter](const torch::Tensor& gradient) {
                constexpr bool at_once = false;
                constexpr bool anew = true;
                const torch::Tensor copy =
                    gradient.to(gradient.options().device(torch::kCPU), at_once, anew, torch::MemoryFormat::Contiguous);
                if (is_last_pass()) alter(i, {copy.data_ptr<float>(), static_cast<std::size_t>(copy.numel())});
                return copy.to(gradient.device());
            };
            parameters_[i].register_hook(altered);
        }
    }

    std::span<std::byte> update_shard(int shard, int shards) override
    {
        shards_.emplace(parameters_, shard, shards);
        optimizer_ = make_optimizer({shards_->mine()}, optimizer_plan_);
        return seen_shards_.of({shards_->all()}).front();
    }

    void accumulate(int passes) override { passes_ = passes; }

    LayeredModel* layered() override { return layers_ ? &*layers_ : nullptr; }

    DenseModel* with_dense_layers() override
    {
        if (device_.is_apart()) base::fail_usage("products of fully connected layers are left to the CPU only");
        if (!dense_) dense_.emplace(*network_, *optimizer_, optimizer_plan_, parameters_);
        return &*dense_;
    }

    bool verify() override { return !dense_ || dense_->products()->verify(); }

    void complete() override
    {
        if (dense_) dense_->products()->complete();
    }

    void take(Batch batch) override
    {
        batch_ = std::move(batch);
        if (forward_graph_)
            take_to_same_place(inputs_of(batch_));
        else
            inputs_ = inputs_of(batch_);
        finish_phase();
    }

    void forward() override
    {
        if (reducer_ && is_last_pass()) reducer_->before_forward();
        run(forward_graph_, [this] {
            const torch::Tensor scores = scores_of(inputs_);
            loss_ = network_->loss(scores, network_->answers(inputs_));
        });
        seen_loss_.see(loss_);
        finish_phase();
    }

    void backward() override
    {
        if (reducer_ && is_last_pass()) reducer_->before_backward(loss_);
        run(backward_graph_, [this] {
            const torch::Tensor share = passes_ == 1 ? loss_ : loss_ / passes_;
            share.backward();
        });
        if (!forward_graph_) loss_.reset();
        if (OwnPart* const own = network_->own_part()) own->finish_backward();
        ++pass_;
        finish_phase();
    }

    void update() override
    {
        if (seen_gradients_.stands_for_device()) seen_gradients_.put_back();
        if (shards_) shards_->take_gradients();
        update_parameters();
        if (dense_) dense_->products()->update();
        if (shards_ && seen_shards_.stands_for_device())
            device_.to_host(shards_->mine(), shards_->mine_of(seen_shards_.copy(0)))->wait();
        seen_gradients_.forget();
        seen_state_.forget();
        drop_gradients();
        ++updates_;
        if (OwnPart* const own = network_->own_part()) own->update();
        pass_ = 0;
        finish_phase();
    }

    std::vector<std::span<float>> gradients() override
    {
        // Copies from a device are made once a step, so that changes made to them are kept.
        if (seen_gradients_.stands_for_device()) return floats(seen_gradients_.all());
        if (shards_) return floats(seen_gradients_.of(shards_->gradients()));
        std::vector<torch::Tensor> all;
        for (const torch::Tensor& parameter : parameters_) all.push_back(parameter.grad());
        return floats(seen_gradients_.of(all));
    }

    std::vector<std::string> gradient_names() override
    {
        std::vector<std::string> names;
        for (const auto& parameter : network_->named_parameters())
            if (parameter.value().requires_grad()) names.push_back(parameter.key());
        return names;
    }

    bool learns() const override { return true; }
    std::optional<double> loss() const override { return seen_loss_.value(); }
    std::optional<int> gpu() const override { return device_.plan().number; }
    bool computes_while_stopped() const override { return device_.plan().kind == DeviceKind::cuda; }

    std::int64_t count_correct(const Batch& batch) override
    {
        if (batch.samples == 0 && network_->own_part() == nullptr) return 0;
        const torch::NoGradGuard no_gradients;
        const Inputs inputs = inputs_of(batch);
        network_->eval();
        const torch::Tensor guesses = network_->guesses(scores_of(inputs));
        network_->train();
        return guesses.eq(network_->answers(inputs)).sum().item<std::int64_t>();
    }

    nlohmann::ordered_json describe() const override
    {
        nlohmann::ordered_json json;
        json["torch"] = TORCH_VERSION;
        json["device"] = text(device_.plan());
        json["precision"] = text(device_.plan().compute);
        if (const std::optional<std::int64_t> peak = device_.peak_memory_bytes())
            json["peak_device_memory_bytes"] = *peak;
        json["updated_parameters"] = shards_ ? shards_->parameter_count() : parameter_count();
        json["torch_threads"] = at::get_num_threads();
        if (const std::optional<int> threads = openblas_threads()) json["openblas_threads"] = *threads;
        if (reducer_) json["ddp_logger"] = reducer_->logged();
        return json;
    }

 private:
    bool is_last_pass() const { return pass_ + 1 == passes_; }

    void drop_gradients()
    {
        if (backward_graph_) return;  // a CUDA graph writes the gradients to the same memory again
        for (torch::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
    }

    void announce(std::size_t tensor, const GradientReady& ready)
    {
        const HostCopies::Begun begun = seen_gradients_.begin(tensor, parameters_[tensor].grad());
        std::function<void()> arrive;
        if (begun.arrival) arrive = [arrival = begun.arrival] { arrival->wait(); };
        ready(tensor, floats({begun.bytes}).front(), std::move(arrive));
    }

    // Records after the first steps, when algorithms, optimizer state and addresses of gradients no longer change.
    void run(std::unique_ptr<DeviceGraph>& graph, const std::function<void()>& work)
    {
        constexpr std::int64_t first_steps = 3;
        if (!device_.plan().graphs || updates_ < first_steps) return work();
        if (!graph) {
            graph = make_device_graph(forward_graph_.get());
            graph->record(work);
        }
        graph->replay();
    }

    void take_to_same_place(const Inputs& inputs)
    {
        for (const auto part : {&Inputs::images, &Inputs::labels, &Inputs::tokens}) {
            if (!(inputs.*part).defined()) continue;
            if ((inputs.*part).sizes() != (inputs_.*part).sizes())
                base::fail("--cuda-graphs: a batch is of another size than the first ones");
            (inputs_.*part).copy_(inputs.*part, true);
        }
    }

    torch::Tensor scores_of(const Inputs& inputs)
    {
        const Autocast autocast{device_};
        const torch::Tensor scores = network_->forward(inputs);
        return device_.plan().compute == Compute::bf16 ? scores.to(torch::kFloat) : scores;
    }

    void update_parameters()
    {
        const bool on_gpu = device_.plan().kind == DeviceKind::cuda && !shards_;
        if (on_gpu && updates_ > 0 && optimizer_plan_.name == "sgd" && optimizer_plan_.momentum != 0.0)
            step_together(*optimizer_, optimizer_plan_, parameters_);
        else
            optimizer_->step();
    }

    void finish_phase() const
    {
        if (device_.plan().sync_phases) device_.finish();
    }

    Inputs inputs_of(const Batch& batch) const { return ddl::inputs_of(batch, shape_, device_); }

    SampleShape shape_;
    TorchDevice device_;
    std::shared_ptr<Network> network_;
    std::vector<torch::Tensor> parameters_;  // those with gradients
    OptimizerPlan optimizer_plan_;
    std::unique_ptr<torch::optim::Optimizer> optimizer_;
    std::optional<ParameterShards> shards_;  // none: this rank updates all parameters
    std::unique_ptr<Reducer> reducer_;
    // A std::shared_ptr, or a pointer type of LibTorch's own in later versions.
    using Accumulator = decltype(torch::autograd::impl::grad_accumulator(torch::Tensor{}));
    std::vector<Accumulator> accumulators_;
    int passes_ = 1;
    int pass_ = 0;  // passes made in this step
    torch::Tensor random_state_;
    Batch batch_;
    Inputs inputs_;
    torch::Tensor loss_;
    std::int64_t updates_ = 0;  // made by this process
    std::unique_ptr<DeviceGraph> forward_graph_;
    std::unique_ptr<DeviceGraph> backward_graph_;
    SeenLoss seen_loss_{device_};
    HostCopies seen_parameters_{device_};
    HostCopies seen_statistics_{device_};
    HostCopies seen_own_{device_};
    HostCopies seen_state_{device_};
    HostCopies seen_shards_{device_};
    HostCopies seen_gradients_{device_};
    std::optional<OperatorRecorder> operators_;
    std::optional<TorchLayers> layers_;
    std::optional<TorchDense> dense_;  // none: all products are computed here
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
    c10::SetStackTraceFetcher([] { return std::string{}; });  // keeps errors to one line, without thirty addresses
    const TorchDevice device{plan.device};
    torch::manual_seed(plan.seed);
    const std::shared_ptr<Network> network = build();  // on the CPU: the same initial values for every device
    if (!device.place().is_cpu()) network->to(device.place());
    return std::make_unique<TorchModel>(network, device, plan);
}

}  // namespace ddl
