// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "ddl-workloads/models/gradient_model.hpp"
#include "ddl-workloads/models/layered_model.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"
#include "testing/cuda_stub.hpp"
#include "testing/environment.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace {

std::unique_ptr<ddl::Model> emulated(const std::map<std::string, std::string>& options)
{
    const base::Registry<ddl::ModelCard> models = ddl::model_registry({});
    const ddl::ModelCard& card = models.find("emulated");
    return card.make(models.settings(card, options), {});
}

std::future<void> ready_at_once()
{
    std::promise<void> promise;
    promise.set_value();
    return promise.get_future();
}

struct Started {
    std::uint64_t bucket = 0;
    std::size_t floats = 0;
    bool last = false;
    std::int64_t at_ns = 0;
};

// Runs backward once with buckets whose exchange does nothing.
std::vector<Started> backward(ddl::Model& model)
{
    std::vector<Started> started;
    ddl::ExchangeThread exchanges{ddl::connector("self", {})};
    ddl::gradients_of(model).exchange_in_buckets(
        {}, exchanges, [&](const ddl::Bucket& bucket, const ddl::ExchangeDone&) {
            started.push_back({bucket.index, bucket.gradients.size(), bucket.last, base::now_ns()});
            return ready_at_once();
        });
    model.backward();
    return started;
}

}  // namespace

TEST_CASE("emulated gradients become ready in order and all of them")
{
    const auto model = emulated({{"compute", "2ms"}, {"gradients", "40kB"}, {"buckets", "3"}});
    const std::vector<Started> started = backward(*model);
    REQUIRE(started.size() == 3);
    std::size_t floats = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(started[i].bucket == i);
        CHECK(started[i].last == (i == 2));
        floats += started[i].floats;
    }
    CHECK(floats == 10'000);
    CHECK(model->parameter_count() == 10'000);
}

TEST_CASE("no emulated bucket is ready before its time")
{
    const auto model = emulated(
        {{"compute", "20ms"}, {"forward", "0%"}, {"gradients", "1kB"}, {"buckets", "2"}, {"ready", "50%/100%"}});
    const std::int64_t begin = base::now_ns();
    const std::vector<Started> started = backward(*model);
    CHECK(started.at(0).at_ns - begin >= 10'000'000);
    CHECK(started.at(1).at_ns - begin >= 20'000'000);
}

TEST_CASE("emulated parameters distinguish one gradient from another")
{
    const auto one = emulated({{"compute", "0ms"}, {"gradients", "1kB"}, {"buckets", "2"}});
    const auto other = emulated({{"compute", "0ms"}, {"gradients", "1kB"}, {"buckets", "2"}});
    one->backward();
    other->backward();
    ddl::gradients_of(*other).gradients().at(1).back() += 1.0F;
    one->update();
    other->update();
    const auto bytes_of = [](ddl::Model& model) {
        const std::span<std::byte> bytes = model.parameters().at(0);
        return std::vector<std::byte>{bytes.begin(), bytes.end()};
    };
    CHECK(bytes_of(*one) != bytes_of(*other));
}

TEST_CASE("emulated work is done, whatever it takes, and gradients are those of emulated time")
{
    for (const std::string device : {"gemm", "memory"}) {
        CAPTURE(device);
        const auto model = emulated({{"compute", "3ms"}, {"gradients", "40kB"}, {"buckets", "3"}, {"device", device}});
        model->forward();
        CHECK(backward(*model).size() == 3);
    }
}

TEST_CASE("the work of a step follows from how long a piece takes, which is tried or given, and is recorded")
{
    // 2 ms of computing are 40 pieces of 50 us, or one of 2 ms: the former should take about 40 times as much CPU time,
    // however long a piece really takes on this machine.
    const auto least_ns = [](const char* piece) {
        const auto model = emulated({{"compute", "2ms"}, {"forward", "100%"}, {"device", "gemm"}, {"piece", piece}});
        CHECK(model->describe().at("piece") == piece);
        std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
        for (int i = 0; i < 20; ++i) {
            const std::int64_t begin_ns = base::thread_cpu_ns();
            model->forward();
            best_ns = std::min(best_ns, base::thread_cpu_ns() - begin_ns);
        }
        return static_cast<double>(best_ns);
    };
    CHECK(least_ns("50us") > 5.0 * least_ns("2ms"));
    CHECK(base::parse<base::Nanoseconds>(emulated({{"device", "gemm"}})->describe().at("piece").get<std::string>()) >
          base::Nanoseconds{0});
    CHECK(emulated({})->describe().empty());
    CHECK_THROWS_AS(emulated({{"piece", "1ms"}}), base::UsageError);
    CHECK_THROWS_AS(emulated({{"device", "gemm"}, {"piece", "0s"}}), base::UsageError);
}

TEST_CASE("an earlier run's steps are emulated one after the other and again")
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "steps.csv"} << "rank,step,forward_ns,backward_ns\n"
                                            "0,0,1000000,20000000\n0,1,1000000,40000000\n";
    const auto model = emulated({{"replay", scratch / "steps.csv"}, {"gradients", "8B"}, {"buckets", "1"}});
    for (const std::int64_t least : {20'000'000, 40'000'000, 20'000'000}) {
        const std::int64_t begin = base::now_ns();
        model->forward();
        model->backward();
        model->update();
        CHECK(base::now_ns() - begin >= least + 1'000'000);
    }
    std::ofstream{scratch / "none.csv"} << "rank,step,forward_ns,backward_ns\n3,0,1,1\n";
    CHECK_THROWS_AS(emulated({{"replay", scratch / "none.csv"}}), base::UsageError);
    std::ofstream{scratch / "wrong.csv"} << "rank,step,forward_ns,backward_ns\n0,0,-1,1\n";
    CHECK_THROWS_AS(emulated({{"replay", scratch / "wrong.csv"}}), base::UsageError);
    std::ofstream{scratch / "long.csv"} << "rank,step,begin_ns,end_ns,forward_ns,backward_ns\n0,0,0,100,60,60\n";
    CHECK_THROWS_AS(emulated({{"replay", scratch / "long.csv"}}), base::UsageError);
    CHECK_THROWS(emulated({{"replay", scratch / "missing.csv"}}));
}

TEST_CASE("emulated options that make no sense are refused")
{
    const std::vector<std::map<std::string, std::string>> wrong{
        {{"compute", "-1ms"}}, {{"buckets", "0"}},  {{"gradients", "4B"}, {"buckets", "4"}},
        {{"forward", "120%"}}, {{"ready", "50%"}},  {{"buckets", "2"}, {"ready", "80%/50%"}},
        {{"device", "gpu"}},   {{"colour", "red"}}, {{"compute", "80"}},
    };
    for (const auto& options : wrong) CHECK_THROWS_AS(emulated(options), base::UsageError);
}

// Tests on a real GPU are in tests/gpu.
namespace {

testing::Outcome train_on_stub(const testing::Scratch& scratch)
{
    return testing::run(
        {CROSSTALK_BIN "/ddl-train", "--model", "emulated[device=cuda,compute=20ms,gradients=4kB,buckets=3]", "--data",
         "synthetic[samples=80]", "--steps", "10", "--json", "--trace", "off", "--out", scratch / "run"});
}

}  // namespace

// Expects 4 kernels in each of 10 steps. A part whose time is over before it begins starts no kernel, which happens on
// a busy machine.
TEST_CASE("an emulated step gives the GPU a kernel for forward and one for each bucket")
{
    const testing::Scratch scratch;
    const testing::Environment stub{testing::with_cuda_stub({{"CUDA_STUB_LOG", (scratch / "log").string()}})};
    const testing::Outcome outcome = train_on_stub(scratch);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.find("\"steps\":10") != std::string::npos);
    std::string log;
    std::getline(std::ifstream{scratch / "log"}, log);
    const std::string before = "\"kernels\":";
    REQUIRE(log.find(before) != std::string::npos);
    const int kernels = std::stoi(log.substr(log.find(before) + before.size()));
    CHECK(kernels <= 40);
    CHECK(kernels >= 30);
}

TEST_CASE("an emulated step on a GPU that is not there is refused in one line")
{
    const testing::Scratch scratch;
    const testing::Environment stub{testing::with_cuda_stub({{"CUDA_STUB_DEVICES", "0"}})};
    const testing::Outcome outcome = train_on_stub(scratch);
    CHECK(outcome.status == 77);
    CHECK(outcome.err == "ddl-train: there is no GPU: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n");
    CHECK_FALSE(std::filesystem::exists(scratch / "run" / "train"));
}

TEST_CASE("emulated layers add one to what they take, for each part of a batch")
{
    const auto model = emulated({{"compute", "2ms"}, {"gradients", "40kB"}, {"buckets", "3"}, {"activations", "8B"}});
    ddl::LayeredModel& layers = *model->layered();
    CHECK(layers.layer_names() == std::vector<std::string>{"layer 0", "layer 1", "layer 2"});
    CHECK(layers.output_size(0, 5) == 10);
    CHECK(layers.output_size(2, 5) == 0);
    std::vector<ddl::Batch> parts(2);
    parts[0].samples = 1;
    parts[1].samples = 2;
    layers.take_parts(parts);
    const auto numbers = [](const std::span<const float>& span) {
        return std::vector<float>(span.begin(), span.end());
    };
    for (std::size_t part = 0; part < 2; ++part)
        for (std::size_t layer = 0; layer < 2; ++layer) layers.forward_layer(layer, part);
    CHECK(numbers(layers.output(1, 0)) == std::vector<float>(2, 2.0F));
    CHECK(numbers(layers.output(1, 1)) == std::vector<float>(4, 2.0F));
    // As on a rank that only has the last layer.
    layers.take_parts(parts);
    layers.put_input(2, 1, std::vector<float>(4, 7.0F));
    layers.forward_layer(2, 1);
    layers.backward_layer(2, 1);
    CHECK(numbers(layers.input_gradient(2, 1)) == std::vector<float>(4, 1.0F));
    layers.put_output_gradient(1, 1, std::vector<float>(4, 5.0F));
    layers.backward_layer(1, 1);
    CHECK(numbers(layers.input_gradient(1, 1)) == std::vector<float>(4, 6.0F));
}
