// SPDX-License-Identifier: Apache-2.0
// The model `synthetic`: layers with given gradient sizes and numbers of operations.
#include "base/error.hpp"
#include "ddl-workloads/models/gradient_model.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

namespace {

std::unique_ptr<ddl::Model> synthetic(const std::map<std::string, std::string>& options)
{
    const base::Registry<ddl::ModelCard> models = ddl::model_registry({});
    const ddl::ModelCard& card = models.find("synthetic");
    return card.make(models.settings(card, options), {});
}

constexpr std::int64_t most_left_over = 8192;  // one row of a product

std::int64_t flops(const ddl::Model& model)
{
    return model.describe().at("flops").get<std::int64_t>();
}

}  // namespace

TEST_CASE("each layer of the synthetic model is a bucket and the last layer is ready first")
{
    const auto model = synthetic({{"bytes", "4kB/8kB/400B"}, {"flops", "0"}});
    std::vector<std::size_t> started;
    ddl::ExchangeThread exchanges{ddl::connector("self", {})};
    ddl::gradients_of(*model).exchange_in_buckets({}, exchanges,
                                                  [&](const ddl::Bucket& bucket, const ddl::ExchangeDone&) {
                                                      started.push_back(bucket.gradients.size());
                                                      CHECK(bucket.last == (started.size() == 3));
                                                      std::promise<void> done;
                                                      done.set_value();
                                                      return done.get_future();
                                                  });
    model->forward();
    model->backward();
    CHECK(started == std::vector<std::size_t>{100, 2000, 1000});
    CHECK(model->parameter_count() == 3100);
    CHECK(ddl::gradients_of(*model).gradients().size() == 3);
}

TEST_CASE("the synthetic model does its operations and twice as many in backward")
{
    const auto model = synthetic({{"layers", "5"}, {"bytes", "4B"}, {"flops", "300e3"}});
    model->forward();
    CHECK(flops(*model) <= 1'500'000);
    CHECK(flops(*model) > 1'500'000 - most_left_over);
    model->backward();
    model->update();
    CHECK(flops(*model) <= 4'500'000);
    CHECK(flops(*model) > 4'500'000 - most_left_over);
}

TEST_CASE("synthetic layers that make no sense are refused")
{
    const std::vector<std::map<std::string, std::string>> wrong{
        {{"layers", "0"}},
        {{"bytes", "3B"}},
        {{"layers", "3"}, {"bytes", "1kB/2kB"}},
        {{"bytes", "1kB/2kB"}, {"flops", "1/2/3"}},
        {{"flops", "-1"}},
        {{"flops", "1e99"}},
        {{"bytes", ""}},
        {{"width", "3"}},
    };
    for (const auto& options : wrong) CHECK_THROWS_AS(synthetic(options), base::UsageError);
}
