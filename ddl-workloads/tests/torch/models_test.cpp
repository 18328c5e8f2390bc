// SPDX-License-Identifier: Apache-2.0
// LibTorch models on hand-made batches: their parameters, that they learn, and that ranks which share a model learn the
// same as a single rank.
#include "base/error.hpp"
#include "base/random.hpp"
#include "ddl-workloads/models/gradient_model.hpp"
#include "ddl-workloads/models/layered_model.hpp"
#include "ddl-workloads/models/torch_models.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using Options = std::map<std::string, std::string>;

std::unique_ptr<ddl::Model> made(const std::string& name, const Options& options, const ddl::ModelPlan& plan)
{
    const base::Registry<ddl::ModelCard> models = ddl::model_registry(ddl::torch_models());
    const ddl::ModelCard& card = models.find(name);
    return card.make(models.settings(card, options), plan);
}

// A text in which each byte determines the next one.
ddl::Batch counting_text(std::int64_t samples, std::int64_t length)
{
    ddl::Batch batch;
    batch.samples = samples;
    for (std::int64_t sample = 0; sample < samples; ++sample)
        for (std::int64_t i = 0; i <= length; ++i) batch.tokens.push_back(97 + (7 * sample + i) % 26);
    return batch;
}

constexpr std::int64_t dense = 3;
constexpr std::int64_t categories = 5;
constexpr std::int64_t rows = 20;

// Visits with numbers from `first` on. They are clicked if the first feature is large, more often if the first
// category's id is small.
ddl::Batch visits(std::int64_t first, std::int64_t samples)
{
    ddl::Batch batch;
    batch.samples = samples;
    for (std::int64_t sample = first; sample < first + samples; ++sample) {
        base::Random random = base::random_stream(1, static_cast<std::uint64_t>(sample));
        for (std::int64_t i = 0; i < dense; ++i)
            batch.images.push_back(2.0F * static_cast<float>(base::draw_unit(random)) - 1.0F);
        for (std::int64_t i = 0; i < categories; ++i)
            batch.tokens.push_back(static_cast<std::int64_t>(base::draw_below(random, rows)));
        const bool small = batch.tokens[batch.tokens.size() - categories] < rows / 2;
        batch.labels.push_back(batch.images[batch.images.size() - dense] > (small ? -0.2F : 0.2F) ? 1 : 0);
    }
    return batch;
}

// Losses of repeated steps on the same batch.
std::vector<double> losses(ddl::Model& model, const ddl::Batch& batch, int steps)
{
    std::vector<double> all;
    for (int step = 0; step < steps; ++step) {
        model.take(batch);
        model.forward();
        model.backward();
        model.update();
        all.push_back(*model.loss());
    }
    return all;
}

// Ranks emulated by threads of this process.
struct Meeting {
    explicit Meeting(int ranks) : barrier{ranks}, bytes(static_cast<std::size_t>(ranks)), counts(bytes.size()) {}
    std::barrier<> barrier;
    std::vector<std::span<const std::byte>> bytes;  // by rank
    std::vector<std::span<const int>> counts;
};

class ThreadTransport : public ddl::Transport {
 public:
    ThreadTransport(Meeting& meeting, int rank) : meeting_{meeting}, rank_{rank} {}

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(meeting_.bytes.size()); }

    void sum(std::span<float> values) override
    {
        std::vector<float> total(values.size());
        meet(std::as_bytes(values), [&] {
            for (const std::span<const std::byte> bytes : meeting_.bytes) {
                const auto* theirs = reinterpret_cast<const float*>(bytes.data());
                for (std::size_t i = 0; i < total.size(); ++i) total[i] += theirs[i];
            }
        });
        std::copy(total.begin(), total.end(), values.begin());
    }

    void sum(std::span<ddl::Half>) override { FAIL("no model asks for it"); }
    void bitwise_and(std::span<std::uint64_t>) override { FAIL("no model asks for it"); }

    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override
    {
        meet(mine, [&] {
            auto place = all.begin();
            for (const std::span<const std::byte> bytes : meeting_.bytes)
                place = std::copy(bytes.begin(), bytes.end(), place);
        });
    }

    void all_to_all(std::span<const std::byte> mine, std::span<const int> sent, std::span<std::byte> all,
                    std::span<const int> received) override
    {
        const auto me = static_cast<std::size_t>(rank_);
        meeting_.counts[me] = sent;
        meet(mine, [&] {
            auto place = all.begin();
            for (std::size_t from = 0; from < meeting_.bytes.size(); ++from) {
                const std::span<const int> counts = meeting_.counts[from];
                CHECK(counts[me] == received[from]);
                std::size_t begin = 0;
                for (std::size_t to = 0; to < me; ++to) begin += static_cast<std::size_t>(counts[to]);
                const auto part = meeting_.bytes[from].subspan(begin, static_cast<std::size_t>(counts[me]));
                place = std::copy(part.begin(), part.end(), place);
            }
        });
    }

    void broadcast(std::span<std::byte> bytes, int root) override
    {
        meet(bytes, [&] {
            const auto theirs = meeting_.bytes[static_cast<std::size_t>(root)];
            if (rank_ != root) std::copy(theirs.begin(), theirs.end(), bytes.begin());
        });
    }

    void barrier() override { meeting_.barrier.arrive_and_wait(); }
    std::vector<std::string> gather(const std::string& text) override { return {text}; }
    std::unique_ptr<otf2::Team> team() override { return std::make_unique<otf2::SoloTeam>(); }
    void record(otf2::LocationRecorder*) override {}
    void abort(int code) noexcept override { std::_Exit(code); }
    nlohmann::ordered_json describe() const override { return "threads"; }

 private:
    template <class Look>
    void meet(std::span<const std::byte> mine, const Look& look)
    {
        meeting_.bytes[static_cast<std::size_t>(rank_)] = mine;
        meeting_.barrier.arrive_and_wait();
        look();
        meeting_.barrier.arrive_and_wait();
    }

    Meeting& meeting_;
    int rank_;
};

std::vector<float> numbers(const std::vector<std::span<std::byte>>& memory)
{
    std::vector<float> all;
    for (const std::span<std::byte> bytes : memory) {
        const auto* begin = reinterpret_cast<const float*>(bytes.data());
        all.insert(all.end(), begin, begin + bytes.size() / sizeof(float));
    }
    return all;
}

// The result of a training on visits, where all ranks together process one batch in each step.
struct Trained {
    std::vector<float> parameters;                 // of rank 0; equal on all other ranks
    std::vector<std::vector<float>> own_at_first;  // initial embedding tables, by number
    std::vector<std::vector<float>> own;           // embedding tables, by number
    double loss = 0.0;                             // loss of the last step, mean over the ranks
    std::int64_t correct = 0;
    std::int64_t parameter_count = 0;
};

Trained train_on_visits(int ranks, const Options& options)
{
    constexpr std::int64_t all_samples = 48;
    constexpr int steps = 100;
    Meeting meeting{ranks};
    Trained trained;
    trained.own.resize(categories);
    trained.own_at_first.resize(categories);
    std::mutex mutex;
    const auto run = [&](int rank) {
        ddl::ExchangeThread exchanges{[&] { return std::make_unique<ThreadTransport>(meeting, rank); }};
        ddl::ModelPlan plan{.shape = ddl::clicks_shape(dense, categories, rows), .rank = rank, .exchanges = &exchanges};
        plan.optimizer = {.name = "sgd", .learning_rate = 0.5, .momentum = 0.0, .weight_decay = 0.0};
        std::unique_lock alone{mutex};  // all threads share LibTorch's random number generator
        const auto model = made("dlrm", options, plan);
        alone.unlock();
        for (const std::span<std::byte> bytes : model->parameters()) exchanges.broadcast(bytes, 0).get();
        const auto keep_own = [&](std::vector<std::vector<float>>& tables) {
            const std::vector<std::span<std::byte>> own = model->own_parameters();
            for (std::size_t i = 0; i < own.size(); ++i)
                tables.at(static_cast<std::size_t>(rank) + i * static_cast<std::size_t>(ranks)) = numbers({own[i]});
        };
        keep_own(trained.own_at_first);
        const std::int64_t samples = all_samples / ranks;
        for (int step = 0; step < steps; ++step) {
            model->take(visits(step % 2 * all_samples + rank * samples, samples));
            model->forward();
            model->backward();
            for (const std::span<float> gradient : ddl::gradients_of(*model).gradients())
                exchanges.average(gradient, {}).get();
            model->update();
        }
        // Rank 0 evaluates all samples, the last rank none.
        const std::int64_t share = rank == 0 ? all_samples : 0;
        const std::int64_t correct = model->count_correct(visits(0, share));
        const std::lock_guard lock{mutex};
        trained.loss += *model->loss() / ranks;
        trained.correct += correct;
        trained.parameter_count = model->parameter_count();
        if (rank == 0) trained.parameters = numbers(model->parameters());
        keep_own(trained.own);
    };
    std::vector<std::jthread> threads;
    for (int rank = 1; rank < ranks; ++rank) threads.emplace_back(run, rank);
    run(0);
    threads.clear();
    return trained;
}

double largest_difference(const std::vector<float>& some, const std::vector<float>& others)
{
    REQUIRE(some.size() == others.size());
    double largest = 0.0;
    for (std::size_t i = 0; i < some.size(); ++i)
        largest = std::max(largest, static_cast<double>(std::abs(some[i] - others[i])));
    return largest;
}

}  // namespace

TEST_CASE("gpt learns which byte follows")
{
    ddl::ModelPlan plan{.shape = ddl::text_shape(16)};
    plan.optimizer = {.name = "adamw", .learning_rate = 0.01};
    const auto model = made("gpt", {{"layers", "1"}, {"width", "32"}, {"heads", "2"}}, plan);
    const ddl::Batch batch = counting_text(4, 16);
    const std::vector<double> all = losses(*model, batch, 40);
    CHECK(all.front() == doctest::Approx(std::log(256.0)).epsilon(0.1));
    CHECK(all.back() < 0.3 * all.front());
    CHECK(model->count_correct(batch) == 4 * 16);

    // Later input must not change earlier predictions.
    ddl::Batch cut_off = batch;
    for (std::int64_t sample = 0; sample < 4; ++sample) std::fill_n(cut_off.tokens.begin() + 17 * sample + 9, 8, 255);
    CHECK(model->count_correct(cut_off) == 4 * 8);
}

TEST_CASE("dlrm learns and two and three ranks with divided tables learn the same as one")
{
    const Options small{{"embedding", "4"}, {"bottom", "8"}, {"top", "8"}};
    const Trained alone = train_on_visits(1, small);
    CHECK(alone.loss < 0.5);  // log 2 without training
    for (std::size_t table = 0; table < categories; ++table)
        CHECK(largest_difference(alone.own[table], alone.own_at_first[table]) > 1e-3);
    CHECK(alone.correct >= 40);
    for (const int ranks : {2, 3}) {
        const Trained together = train_on_visits(ranks, small);
        CHECK(together.parameter_count == alone.parameter_count);
        CHECK(together.loss == doctest::Approx(alone.loss).epsilon(1e-3));
        CHECK(together.correct == alone.correct);
        CHECK(largest_difference(together.parameters, alone.parameters) < 1e-4);
        for (std::size_t table = 0; table < categories; ++table)
            CHECK(largest_difference(together.own[table], alone.own[table]) < 1e-4);
    }
}

TEST_CASE("models refuse data of another kind and numbers that make no sense")
{
    const ddl::ModelPlan text{.shape = ddl::text_shape(8)};
    const ddl::ModelPlan clicks{.shape = ddl::clicks_shape(dense, categories, rows)};
    const ddl::ModelPlan images{};
    for (const char* model : {"mlp", "resnet18", "dlrm"}) CHECK_THROWS_AS(made(model, {}, text), base::UsageError);
    for (const char* model : {"mlp", "resnet18", "gpt"}) CHECK_THROWS_AS(made(model, {}, clicks), base::UsageError);
    for (const char* model : {"gpt", "dlrm"}) CHECK_THROWS_AS(made(model, {}, images), base::UsageError);
    for (const Options& options : {Options{{"heads", "3"}}, Options{{"size", "huge"}}, Options{{"layers", "0"}},
                                   Options{{"context", "4"}}, Options{{"vocabulary", "100"}}})
        CHECK_THROWS_AS(made("gpt", options, text), base::UsageError);
    for (const Options& options : {Options{{"embedding", "0"}}, Options{{"rows", "5/6"}}, Options{{"top", "-3"}}})
        CHECK_THROWS_AS(made("dlrm", options, clicks), base::UsageError);
}

TEST_CASE("layers computed one by one give the losses and gradients of the whole")
{
    const auto numbers = [](std::int64_t count, std::uint64_t seed) {
        base::Random random{seed};
        std::vector<float> all(static_cast<std::size_t>(count));
        for (float& one : all) one = static_cast<float>(base::draw_unit(random));
        return all;
    };
    ddl::Batch images;
    images.samples = 6;
    images.images = numbers(6 * 8 * 8, 1);
    images.labels = {0, 1, 2, 3, 4, 5};
    ddl::SampleShape of_images;
    of_images.channels = 1;
    of_images.height = 8;
    of_images.width = 8;
    of_images.classes = 10;
    ddl::SampleShape of_text;
    of_text.kind = ddl::SampleShape::Kind::text;
    of_text.length = 12;
    of_text.classes = 256;
    struct Case {
        std::string model;
        Options options;
        ddl::SampleShape shape;
        ddl::Batch batch;
        std::vector<std::string> layers;
    };
    const std::vector<Case> cases{{"mlp", {{"hidden", "16"}}, of_images, images, {"layer 0", "layer 1", "head"}},
                                  {"gpt",
                                   {{"layers", "2"}, {"width", "16"}, {"heads", "2"}},
                                   of_text,
                                   counting_text(6, 12),
                                   {"embedding", "block 0", "block 1", "head"}}};
    for (const Case& one : cases) {
        CAPTURE(one.model);
        const ddl::ModelPlan plan{.shape = one.shape};
        const std::unique_ptr<ddl::Model> whole = made(one.model, one.options, plan);
        const std::unique_ptr<ddl::Model> cut = made(one.model, one.options, plan);
        // The layers are on two ranks; what one would send to the other is copied here.
        const std::unique_ptr<ddl::Model> rest = made(one.model, one.options, plan);
        whole->take(one.batch);
        whole->forward();
        whole->backward();
        ddl::LayeredModel& layered = *cut->layered();
        ddl::LayeredModel& remote = *rest->layered();
        CHECK(layered.layer_names() == one.layers);
        const std::size_t layers = one.layers.size();
        layered.take_parts({one.batch});
        for (std::size_t layer = 0; layer < layers; ++layer) layered.forward_layer(layer, 0);
        CHECK(*layered.part_loss(0) == *whole->loss());
        for (std::size_t layer = layers; layer-- > 0;) layered.backward_layer(layer, 0);
        const auto equal = [](const std::span<float>& a, const std::span<float>& b) {
            return std::equal(a.begin(), a.end(), b.begin(), b.end());
        };
        const auto wanted = ddl::gradients_of(*whole).gradients();
        const auto found = ddl::gradients_of(*cut).gradients();
        REQUIRE(found.size() == wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(equal(found[i], wanted[i]));

        const std::size_t border = 2;
        layered.take_parts({one.batch});
        remote.take_parts({one.batch});
        for (std::size_t layer = 0; layer < border; ++layer) layered.forward_layer(layer, 0);
        const std::span<const float> sent = layered.output(border - 1, 0);
        CHECK(sent.size() == layered.output_size(border - 1, one.batch.samples));
        remote.put_input(border, 0, sent);
        for (std::size_t layer = border; layer < layers; ++layer) remote.forward_layer(layer, 0);
        CHECK(*remote.part_loss(0) == *whole->loss());
        for (std::size_t layer = layers; layer-- > border;) remote.backward_layer(layer, 0);
        layered.put_output_gradient(border - 1, 0, remote.input_gradient(border, 0));
        for (std::size_t layer = border; layer-- > 0;) layered.backward_layer(layer, 0);
        CHECK(layered.input_gradient(1, 0).size() == layered.output_size(0, one.batch.samples));
        CHECK_THROWS_AS(remote.put_input(border, 0, sent.first(sent.size() - 1)), base::Error);
    }
}
