// SPDX-License-Identifier: Apache-2.0
// A network described only by numbers: for each layer the size of its gradient, and the floating-point operations of
// its forward pass. Backward takes twice as many; all are really executed. Since it does not learn, it can have any
// shape: many small tensors or a few large ones, much computing between them or little.
#include "base/error.hpp"
#include "base/words.hpp"
#include "ddl-workloads/instruments/details.hpp"
#include "ddl-workloads/models/bucket_model.hpp"
#include "ddl-workloads/models/emulated_work.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace ddl {

namespace {

struct Layer {
    std::size_t floats = 0;  // size of the layer's gradient
    std::int64_t flops = 0;  // of the forward pass, per step
};

std::vector<std::size_t> last_layer_first(const std::vector<Layer>& layers)
{
    std::vector<std::size_t> sizes;
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) sizes.push_back(layer->floats);
    return sizes;
}

class Synthetic : public BucketModel {
 public:
    Synthetic(std::vector<Layer> layers, const ModelPlan& plan)
        : BucketModel{last_layer_first(layers), plan.rank}, layers_{std::move(layers)}, details_{plan.details}
    {
        for (std::size_t layer = 0; layer < layers_.size(); ++layer) names_.push_back(base::join("layer ", layer));
    }

    void forward() override
    {
        for (std::size_t layer = 0; layer < layers_.size(); ++layer) compute(layer, layers_[layer].flops);
    }

    nlohmann::ordered_json describe() const override { return {{"flops", flops_}}; }

 private:
    void complete(const Bucket& bucket) override
    {
        const std::size_t layer = layers_.size() - 1 - bucket.index;
        compute(layer, 2 * layers_[layer].flops);
    }

    void compute(std::size_t layer, std::int64_t flops)
    {
        const DetailScope scope{details_, Details::Kind::module, names_[layer].c_str()};
        owed_ += flops;
        for (; owed_ >= MatrixProducts::flops_of_a_row; owed_ -= MatrixProducts::flops_of_a_row) {
            products_.row();
            flops_ += MatrixProducts::flops_of_a_row;
        }
    }

    std::vector<Layer> layers_;
    std::vector<std::string> names_;
    Details* details_;
    MatrixProducts products_;
    std::int64_t owed_ = 0;   // remainder smaller than a row, carried to the next layer
    std::int64_t flops_ = 0;  // executed so far
};

std::vector<std::string> each_layer(const base::Settings& settings, const std::string& name, std::size_t layers)
{
    std::vector<std::string> values = base::split(settings.text(name), '/');
    if (values.size() == 1) return std::vector<std::string>(layers, values.front());
    if (values.size() != layers)
        base::fail_usage("synthetic[", name, "=", settings.text(name), "] has ", values.size(), " values for ", layers,
                         " layers");
    return values;
}

// Number of layers: the option, or the length of the longer of the two lists.
std::size_t count_of_layers(const base::Settings& settings)
{
    const int layers = settings.get<int>("layers");
    if (layers < 1) base::fail_usage("synthetic[layers] must be at least 1");
    const std::size_t listed =
        std::max(base::split(settings.text("bytes"), '/').size(), base::split(settings.text("flops"), '/').size());
    return settings.given("layers") || listed <= 1 ? static_cast<std::size_t>(layers) : listed;
}

std::size_t floats(const std::string& text)
{
    const std::int64_t bytes = base::parse<base::Bytes>(text).count;
    const auto float_bytes = static_cast<std::int64_t>(sizeof(float));
    if (bytes < float_bytes) base::fail_usage("synthetic[bytes]: ", text, " is less than one number");
    return static_cast<std::size_t>(bytes / float_bytes);
}

std::int64_t flops(const std::string& text)
{
    constexpr double most = 1e15;
    const auto value = base::parse<double>(text);
    if (value < 0.0 || value > most) base::fail_usage("synthetic[flops]: ", text, " is not between 0 and 1e15");
    return std::llround(value);
}

std::vector<Layer> layers(const base::Settings& settings)
{
    const std::size_t count = count_of_layers(settings);
    const std::vector<std::string> bytes_of = each_layer(settings, "bytes", count);
    const std::vector<std::string> flops_of = each_layer(settings, "flops", count);
    std::vector<Layer> layers;
    for (std::size_t i = 0; i < count; ++i)
        layers.push_back({.floats = floats(bytes_of[i]), .flops = flops(flops_of[i])});
    return layers;
}

}  // namespace

extern const ModelCard synthetic_model{
    .name = "synthetic",
    .summary = "layers with given gradient sizes and executed FLOPs; does not learn",
    .options = {{"layers", "16", "number of layers, one bucket each; the last is ready first"},
                {"bytes", "1MiB", "gradient size of a layer; one value, or one per layer: 1MiB/4MiB/64kB"},
                {"flops", "10e6",
                 "FLOPs of a layer's forward pass; backward has twice as many; one value, or one per layer"}},
    .make = [](const base::Settings& settings, const ModelPlan& plan) -> std::unique_ptr<Model> {
        return std::make_unique<Synthetic>(layers(settings), plan);
    },
    .offers = {&exchanged_gradients},
};

}  // namespace ddl
