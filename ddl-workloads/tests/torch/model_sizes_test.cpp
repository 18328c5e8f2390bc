// SPDX-License-Identifier: Apache-2.0
// Parameter counts of LibTorch models, compared with published counts and formulas.
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/models/torch_models.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>

namespace {

std::unique_ptr<ddl::Model> model_of(const std::string& name, const std::map<std::string, std::string>& options,
                                     const ddl::ModelPlan& plan)
{
    const base::Registry<ddl::ModelCard> models = ddl::model_registry(ddl::torch_models());
    const ddl::ModelCard& card = models.find(name);
    return card.make(models.settings(card, options), plan);
}

}  // namespace

TEST_CASE("residual networks have the parameters that are known of them")
{
    const ddl::ModelPlan images{};  // 32 x 32 pixels, ten classes
    CHECK(model_of("resnet18", {}, images)->parameter_count() == 11'173'962);
    CHECK(model_of("resnet34", {}, images)->parameter_count() == 21'282'122);
    CHECK(model_of("resnet50", {{"stem", "imagenet"}}, images)->parameter_count() == 23'528'522);
}

TEST_CASE("gpt has the parameters that its formula says")
{
    const ddl::ModelPlan plan{.shape = ddl::text_shape(128)};
    const auto formula = [](std::int64_t layers, std::int64_t width, std::int64_t context, std::int64_t words) {
        return words * width + context * width + layers * (12 * width * width + 13 * width) + 2 * width;
    };
    CHECK(formula(12, 768, 1024, 50257) == 124'439'808);  // the published count of GPT-2
    CHECK(model_of("gpt", {}, plan)->parameter_count() == 842'496);
    CHECK(formula(4, 128, 128, 256) == 842'496);
    CHECK(model_of("gpt", {{"size", "micro"}}, plan)->parameter_count() == 10'795'008);
    CHECK(formula(6, 384, 128, 256) == 10'795'008);
    CHECK(model_of("gpt", {{"size", "small"}}, plan)->parameter_count() == 85'350'912);
    CHECK(formula(12, 768, 128, 256) == 85'350'912);
    CHECK(model_of("gpt", {{"layers", "2"}, {"width", "24"}, {"heads", "3"}, {"context", "200"}, {"vocabulary", "300"}},
                   plan)
              ->parameter_count() == formula(2, 24, 200, 300));
}

TEST_CASE("dlrm has the parameters that its formula says")
{
    ddl::ExchangeThread exchanges{ddl::connector("self", {})};
    const auto count = [&](const ddl::SampleShape& shape, const std::map<std::string, std::string>& options) {
        return model_of("dlrm", options, {.shape = shape, .exchanges = &exchanges})->parameter_count();
    };
    CHECK(count(ddl::clicks_shape(13, 26, 1000), {}) == 445'169);
    // tables: 8 (10 + 20 + 30); bottom perceptron: 3 > 4 > 8; top perceptron: 8 + 6 > 5 > 1
    CHECK(count(ddl::clicks_shape(3, 3, 1000),
                {{"embedding", "8"}, {"rows", "10/20/30"}, {"bottom", "4"}, {"top", "5"}}) ==
          8 * 60 + (3 * 4 + 4) + (4 * 8 + 8) + (14 * 5 + 5) + (5 + 1));
}
