// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/alteration/live_alteration.hpp"

#include "base/cli/option_checks.hpp"
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/words.hpp"
#include "ddl-workloads/models/dense_model.hpp"
#include "ddl-workloads/models/gradient_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ddl {

namespace {

constexpr std::array<const char*, 3> places_in_products{"activation/", "product/", "decoded/"};
constexpr std::array<const char*, 9> places{"model/",      "optimizer/", strategy_state, "input/", "gradient/",
                                            "activation/", "product/",   "decoded/",     "mean/"};

bool is_at(const std::string& path, const char* place)
{
    return path.starts_with(place);
}

bool is_state(const std::string& path)
{
    return is_at(path, "model/") || is_at(path, "optimizer/") || is_at(path, strategy_state);
}

std::string bits_of(const soft_errors::Injection& one)
{
    std::string text;
    for (const int bit : one.bits) text += (text.empty() ? "" : " ") + std::to_string(bit);
    return text;
}

template <class Number>
double largest_change(std::span<const std::byte> before, std::span<const std::byte> after)
{
    const auto* const from = reinterpret_cast<const Number*>(before.data());
    const auto* const to = reinterpret_cast<const Number*>(after.data());
    double largest = 0.0;
    for (std::size_t i = 0; i < after.size() / sizeof(Number); ++i)
        if (to[i] != from[i])
            largest = std::max(largest, std::abs(static_cast<double>(to[i]) - static_cast<double>(from[i])));
    return largest;
}

template <class Number>
std::span<std::byte> bytes_of(std::vector<Number>& numbers)
{
    return std::as_writable_bytes(std::span{numbers});
}

}  // namespace

soft_errors::NumberFormat format_of(ElementType type)
{
    using Kind = soft_errors::NumberFormat::Kind;
    switch (type) {
        case ElementType::float32:
            return soft_errors::float32;
        case ElementType::float64:
            return soft_errors::float64;
        case ElementType::int32:
            return {.kind = Kind::whole, .bytes = 4, .exponent_bits = 0};
        case ElementType::int64:
            return {.kind = Kind::whole, .bytes = 8, .exponent_bits = 0};
        case ElementType::uint8:
            break;
    }
    return {.kind = Kind::natural, .bytes = 1, .exponent_bits = 0};
}

LiveAlteration parse_live_alteration(const std::string& text)
{
    const std::size_t first = text.find(':');
    const std::size_t second = first == std::string::npos ? first : text.find(':', first + 1);
    if (second == std::string::npos || second + 1 == text.size())
        base::fail_usage("--alter ", text, ": give RANK:STEP:R.json, such as 1:50:flips.json or all:50:flips.json");
    LiveAlteration alteration;
    if (const std::string rank = text.substr(0, first); rank != "all") {
        alteration.rank = base::parsed<int>(("--alter " + text).c_str(), rank);
        if (alteration.rank < 0) base::fail_usage("--alter ", text, ": ranks count from 0");
    }
    const auto step =
        base::parsed<std::int64_t>(("--alter " + text).c_str(), text.substr(first + 1, second - first - 1));
    if (step < 0) base::fail_usage("--alter ", text, ": steps count from 0");
    alteration.step = static_cast<std::uint64_t>(step);
    alteration.record = text.substr(second + 1);
    alteration.injections = soft_errors::read_injections(alteration.record);
    for (const soft_errors::Injection& one : alteration.injections) {
        const auto holds = [&](const char* place) { return is_at(one.path, place); };
        if (std::none_of(places.begin(), places.end(), holds))
            base::fail_usage("--alter ", text, ": ", one.path,
                             " does not begin with model/, optimizer/, code/, input/, activation/, product/, decoded/, "
                             "gradient/ or mean/");
        if (one.index.empty()) base::fail_usage("--alter ", text, ": gives no numbers of ", one.path);
    }
    return alteration;
}

bool is_of_products(const std::string& path)
{
    return std::ranges::any_of(places_in_products, [&](const char* place) { return is_at(path, place); });
}

bool told_to_differ(const std::vector<LiveAlteration>& alterations)
{
    const auto stays = [](const soft_errors::Injection& one) {
        return !is_at(one.path, "input/") && !is_at(one.path, "gradient/");
    };
    return std::any_of(alterations.begin(), alterations.end(), [&](const LiveAlteration& one) {
        return one.rank >= 0 && std::any_of(one.injections.begin(), one.injections.end(), stays);
    });
}

void add_alteration_options(base::Options& options, std::vector<LiveAlteration>& alterations)
{
    options.group("Soft errors");
    options.add_words(
        "alter",
        "RANK|all:STEP:R.json: in that step of that rank, flip the bits given in record R.json; its paths begin "
        "with model/, optimizer/, code/ (coded blocks), input/, gradient/ (before the exchange) or mean/ (after it); of "
        "coded layers also activation/ (input), product/ (a rank's term) or decoded/ (output)",
        "ALTERATION");
    options.then([&options, &alterations] {
        for (const std::string& text : options.texts("alter")) alterations.push_back(parse_live_alteration(text));
    });
}

LiveAlterer::LiveAlterer(otf2::Recorder& recorder, otf2::LocationRecorder& location, Model& model,
                         std::vector<LiveAlteration> alterations)
    : location_{location}, model_{model}, alterations_{std::move(alterations)}
{
    if (alterations_.empty()) return;
    region_ = recorder.region(base::region::alteration);
    tensor_ = recorder.attribute(base::attribute::tensor, otf2::Type::text);
    element_ = recorder.attribute(base::attribute::element, otf2::Type::uint64);
    bits_ = recorder.attribute(base::attribute::bits, otf2::Type::text);
    if (model.with_gradients() != nullptr) gradient_paths_ = gradients_of(model).gradient_names();
    std::vector<std::size_t> tensors;
    for (const LiveAlteration& alteration : alterations_)
        for (const soft_errors::Injection& one : alteration.injections) {
            for (const std::string& text : {one.path, bits_of(one)})
                if (!texts_.contains(text)) texts_[text] = recorder.text(text);
            const bool before = is_at(one.path, "gradient/");
            if (!before && !is_at(one.path, "mean/")) continue;
            const std::string name = one.path.substr(one.path.find('/') + 1);
            const auto found = std::find(gradient_paths_.begin(), gradient_paths_.end(), name);
            if (found == gradient_paths_.end())
                base::fail_usage("--alter: the model has no gradient ", name,
                                 base::did_you_mean(name, gradient_paths_));
            const auto tensor = static_cast<std::size_t>(found - gradient_paths_.begin());
            if (before && std::find(tensors.begin(), tensors.end(), tensor) == tensors.end()) tensors.push_back(tensor);
        }
    if (!tensors.empty())
        gradients_of(model).alter_gradients(
            tensors, [this](std::size_t tensor, std::span<float> values) { gradient(tensor, values); });
    check_state_paths();
    alter_products();
}

void LiveAlterer::check_state_paths() const
{
    std::vector<std::string> paths;
    for (const StateTensor& tensor : model_.state()) paths.push_back(tensor.path);
    for (const LiveAlteration& alteration : alterations_)
        for (const soft_errors::Injection& one : alteration.injections)
            if (is_state(one.path) && std::ranges::find(paths, one.path) == paths.end())
                base::fail_usage("--alter: the training has no ", one.path, base::did_you_mean(one.path, paths));
}

void LiveAlterer::alter_products()
{
    for (const LiveAlteration& alteration : alterations_)
        for (const soft_errors::Injection& one : alteration.injections) {
            if (!is_of_products(one.path)) continue;
            DenseModel& model = *model_.with_dense_layers();
            std::vector<std::string> names;
            for (const DenseLayer& layer : model.dense_layers()) names.push_back(layer.name);
            const std::string name = one.path.substr(one.path.find('/') + 1);
            if (std::ranges::find(names, name) == names.end())
                base::fail_usage("--alter: the model has no fully connected layer ", name,
                                 base::did_you_mean(name, names));
            model.products()->alter_by([this](const StateTensor& tensor) { return numbers(tensor); });
        }
}

// A step that is repeated is not altered again.
std::optional<double> LiveAlterer::numbers(const StateTensor& tensor)
{
    if (!wanted_.contains(tensor.path)) return std::nullopt;
    const std::vector<std::byte> before{tensor.bytes.begin(), tensor.bytes.end()};
    alter(tensor.path, format_of(tensor.type), tensor.shape, tensor.bytes);
    wanted_.erase(tensor.path);
    return tensor.type == ElementType::float64 ? largest_change<double>(before, tensor.bytes)
                                               : largest_change<float>(before, tensor.bytes);
}

void LiveAlterer::before_step(std::uint64_t step)
{
    wanted_.clear();
    for (const LiveAlteration& alteration : alterations_)
        if (alteration.step == step)
            for (const soft_errors::Injection& one : alteration.injections) wanted_[one.path].push_back(&one);
    if (!wanted_.empty()) alter_state();
}

void LiveAlterer::alter_state()
{
    if (std::none_of(wanted_.begin(), wanted_.end(), [](const auto& entry) { return is_state(entry.first); })) return;
    const std::vector<StateTensor> state = model_.state();
    const bool is_coded =
        std::ranges::any_of(state, [](const StateTensor& tensor) { return is_at(tensor.path, strategy_state); });
    for (const StateTensor& tensor : state) {
        const bool is_real = tensor.type == ElementType::float32 || tensor.type == ElementType::float64;
        if (!is_coded || !is_real)
            alter(tensor.path, format_of(tensor.type), tensor.shape, tensor.bytes);
        else if (const std::optional<double> size = numbers(tensor))
            model_.with_dense_layers()->products()->altered(tensor, *size);
    }
    model_.restored();
}

void LiveAlterer::input(Batch& batch)
{
    if (wanted_.empty()) return;
    const soft_errors::NumberFormat whole{
        .kind = soft_errors::NumberFormat::Kind::whole, .bytes = 8, .exponent_bits = 0};
    alter("input/images", soft_errors::float32, {}, bytes_of(batch.images));
    alter("input/tokens", whole, {}, bytes_of(batch.tokens));
    alter("input/labels", whole, {}, bytes_of(batch.labels));
    for (const auto& [path, injections] : wanted_)
        if (is_at(path, "input/") && path != "input/images" && path != "input/tokens" && path != "input/labels")
            base::fail("--alter: there is no ", path, "; inputs are input/images, input/tokens and input/labels");
}

void LiveAlterer::gradient(std::size_t tensor, std::span<float> values)
{
    alter("gradient/" + gradient_paths_.at(tensor), soft_errors::float32, {}, std::as_writable_bytes(values));
}

void LiveAlterer::before_update()
{
    const auto is_mean = [](const auto& entry) { return is_at(entry.first, "mean/"); };
    if (std::none_of(wanted_.begin(), wanted_.end(), is_mean)) return;
    const std::vector<std::span<float>> gradients = gradients_of(model_).gradients();
    for (std::size_t i = 0; i < gradients.size() && i < gradient_paths_.size(); ++i)
        alter("mean/" + gradient_paths_[i], soft_errors::float32, {}, std::as_writable_bytes(gradients[i]));
}

void LiveAlterer::alter(const std::string& path, const soft_errors::NumberFormat& format,
                        std::span<const std::int64_t> shape, std::span<std::byte> bytes)
{
    const auto wanted = wanted_.find(path);
    if (wanted == wanted_.end()) return;
    const auto size = static_cast<std::uint64_t>(format.bytes);
    const std::uint64_t count = bytes.size() / size;
    std::vector<std::uint64_t> sizes{count};  // an input or a gradient has one dimension
    if (!shape.empty()) sizes.assign(shape.begin(), shape.end());
    for (const soft_errors::Injection* one : wanted->second) {
        const std::uint64_t index = soft_errors::index_in(*one, sizes, "--alter: " + path);
        if (index >= count) base::fail("--alter: ", path, " has ", count, " numbers, so none has index ", index);
        std::byte* const at = bytes.data() + index * size;
        const std::uint64_t bits =
            soft_errors::load_bits(format, at) ^ soft_errors::flipped_bits(*one, format, "--alter: " + path);
        location_.enter(region_, {{tensor_, texts_.at(path)}, {element_, index}, {bits_, texts_.at(bits_of(*one))}});
        soft_errors::store_bits(format, bits, at);
        location_.leave(region_);
        ++count_;
    }
}

}  // namespace ddl
