// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/trials/drawn_alteration.hpp"

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/words.hpp"
#include "ddl-workloads/alteration/live_alteration.hpp"
#include "ddl-workloads/models/gradient_model.hpp"
#include "soft-errors/drawing/flips.hpp"
#include "soft-errors/drawing/selection.hpp"
#include "soft-errors/state/checksums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace ddl {

namespace {

constexpr std::size_t most_paths = 10;  // largest number of paths that a row lists

// Sorted by path, the order in a checkpoint.
std::vector<StateTensor> sorted_state(Model& model)
{
    std::vector<StateTensor> state = model.state();
    std::sort(state.begin(), state.end(),
              [](const StateTensor& one, const StateTensor& other) { return one.path < other.path; });
    return state;
}

soft_errors::NamedTensors named(const std::vector<StateTensor>& state)
{
    soft_errors::NamedTensors all{.name = "the training", .tensors = {}};
    for (const StateTensor& tensor : state) {
        const soft_errors::NumberFormat format = format_of(tensor.type);
        all.tensors.push_back({.path = tensor.path,
                               .format = format,
                               .shape = {tensor.shape.begin(), tensor.shape.end()},
                               .elements = tensor.bytes.size() / static_cast<std::size_t>(format.bytes)});
    }
    return all;
}

// "optimizer/momentum/layers.0.weight" and "model/layers.0.weight" both belong to layers.0.weight.
std::string tensor_name(const std::string& path)
{
    const std::size_t first = path.find('/');
    const std::size_t second = path.starts_with("optimizer/") ? path.find('/', first + 1) : first;
    return path.substr(second == std::string::npos ? path.size() : second + 1);
}

bool is_whole_path(const std::string& location)
{
    return location.starts_with("model/") || location.starts_with("optimizer/");
}

// Returns "layers.0" for layers.0.weight.
std::string layer_name(const std::string& tensor)
{
    return tensor.substr(0, tensor.rfind('.'));
}

// Joins as many names as fit into a line.
std::string some_of(const std::vector<std::string>& names)
{
    constexpr std::size_t longest = 60;
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0 && text.size() + names[i].size() > longest) return base::join(text, ", .. (", names.size(), ")");
        text += (i == 0 ? "" : ", ") + names[i];
    }
    return text;
}

[[noreturn]] void fail_location(const base::Trial& trial, const std::vector<std::string>& names)
{
    if (names.empty()) base::fail("the model has no tensors of target ", trial.target);
    std::vector<std::string> layers;
    for (const std::string& name : names)
        if (const std::string layer = layer_name(name); std::find(layers.begin(), layers.end(), layer) == layers.end())
            layers.push_back(layer);
    base::fail("no tensor of the ", trial.target == "both" ? "model or optimizer" : trial.target,
               " has a name that begins with '", trial.location, "'", base::did_you_mean(trial.location, layers),
               "; there are ", some_of(layers));
}

std::vector<std::string> locations_of(const base::Trial& trial, const soft_errors::NamedTensors& state)
{
    if (is_whole_path(trial.location)) {
        const std::string root = trial.location.substr(0, trial.location.find('/') + 1);
        std::vector<std::string> paths;
        for (const soft_errors::NamedTensor& tensor : state.tensors) {
            if (tensor.path.starts_with(trial.location)) return {trial.location};
            if (tensor.path.starts_with(root)) paths.push_back(tensor.path);
        }
        fail_location(trial, paths);
    }
    std::vector<std::string> begins;
    if (trial.target != "optimizer") begins.emplace_back("model/");
    if (trial.target != "model") begins.emplace_back("optimizer/");
    if (trial.location.empty()) return begins;
    std::vector<std::string> paths;
    std::vector<std::string> names;
    for (const soft_errors::NamedTensor& tensor : state.tensors)
        for (const std::string& begin : begins) {
            if (!tensor.path.starts_with(begin)) continue;
            names.push_back(tensor_name(tensor.path));
            if (names.back().starts_with(trial.location)) paths.push_back(tensor.path);
        }
    if (paths.empty()) fail_location(trial, names);
    return paths;
}

// The population from which a row of kind `trial` draws its bits.
struct Draw {
    std::vector<StateTensor> tensors;
    soft_errors::NamedTensors state;
    soft_errors::SiteRequest request = {};
    soft_errors::FlipRequest flips = {};
    std::vector<std::size_t> eligible = {};
    double bits = 0.0;
};

// Throws Error as check_alteration() does.
Draw draw_of(Model& model, const base::Trial& trial)
{
    const std::vector<StateTensor> tensors = sorted_state(model);
    Draw draw{.tensors = tensors, .state = named(tensors)};
    draw.request.flips = static_cast<std::uint64_t>(trial.count);
    draw.request.locations = locations_of(trial, draw.state);
    if (!trial.bits.empty()) draw.flips.bits = soft_errors::parse_bits("bits", trial.bits);
    draw.eligible = soft_errors::eligible(draw.state, draw.request);
    std::uint64_t numbers = 0;
    for (const std::size_t place : draw.eligible) {
        const soft_errors::NamedTensor& tensor = draw.state.tensors[place];
        const int most = tensor.format.bits() - 1;
        if (draw.flips.bits && draw.flips.bits->last > most)
            base::fail("bits ", trial.bits, ": ", tensor.path, " is of type ", soft_errors::format_name(tensor.format),
                       ", which has bits 0 to ", most);
        draw.bits += static_cast<double>(tensor.elements) *
                     static_cast<double>(soft_errors::allowed_bits(tensor, draw.flips).size());
        numbers += tensor.elements;
    }
    if (draw.request.flips > numbers)
        base::fail("count ", trial.count, ": there are only ", numbers, " numbers that may be altered");
    return draw;
}

void append(std::string& words, const std::string& word, char separator)
{
    if (!words.empty()) words += separator;
    words += word;
}

std::byte* place_of(const StateTensor& tensor, const soft_errors::NumberFormat& format, std::uint64_t index)
{
    return tensor.bytes.data() + index * static_cast<std::uint64_t>(format.bytes);
}

DrawnAlteration described(const soft_errors::NamedTensors& state, const std::vector<soft_errors::Site>& sites)
{
    DrawnAlteration drawn;
    std::array<bool, 64> flipped{};
    std::size_t last = SIZE_MAX;
    std::size_t paths = 0;
    for (const soft_errors::Site& site : sites) {
        const soft_errors::NamedTensor& tensor = state.tensors[site.tensor];
        for (int bit = 0; bit < tensor.format.bits(); ++bit)
            if ((site.flipped & soft_errors::bit_from_left(tensor.format, bit)) != 0)
                flipped.at(static_cast<std::size_t>(bit)) = true;
        if (std::exchange(last, site.tensor) == site.tensor || ++paths > most_paths) continue;
        append(drawn.path, tensor.path, base::path_separator);
        append(drawn.index, std::to_string(site.index), base::path_separator);
    }
    for (std::size_t bit = 0; bit < flipped.size(); ++bit)
        if (flipped.at(bit)) append(drawn.bits, std::to_string(bit), ' ');
    return drawn;
}

StateTensor last_parameters(Model& model)
{
    const std::vector<std::string> names = gradients_of(model).gradient_names();
    if (names.empty()) base::fail("a positive trial needs a model with parameters");
    const std::string path = "model/" + names.back();
    for (const StateTensor& tensor : model.state())
        if (tensor.path == path && tensor.type == ElementType::float32) return tensor;
    base::fail("a positive trial needs 32-bit values in ", path);
}

template <class Number>
void add_numbers(StateNumbers& all, std::span<const std::byte> bytes)
{
    const std::span<const Number> numbers{reinterpret_cast<const Number*>(bytes.data()), bytes.size() / sizeof(Number)};
    for (const Number number : numbers) {
        const double value = std::abs(static_cast<double>(number));
        if (!(value <= std::numeric_limits<double>::max()))
            ++all.not_finite;
        else if (value > all.largest)
            all.largest = value;
    }
}

}  // namespace

bool alters(const base::Trial& trial, int rank)
{
    return trial.rank == "all" || trial.rank == std::to_string(rank);
}

DrawnAlteration alter_state(Model& model, const base::Trial& trial)
{
    const Draw draw = draw_of(model, trial);
    base::Random random = base::random_stream(trial.seed, 0);
    std::vector<soft_errors::Site> sites =
        soft_errors::draw_sites(draw.state, draw.eligible, draw.request, draw.flips, random);
    std::vector<soft_errors::NumberBits> before;
    for (const soft_errors::Site& site : sites) {
        const soft_errors::NumberFormat& format = draw.state.tensors[site.tensor].format;
        const std::byte* const at = place_of(draw.tensors[site.tensor], format, site.index);
        before.push_back({site.tensor, site.index, soft_errors::load_bits(format, at)});
    }
    for (const soft_errors::NumberBits& number : soft_errors::altered(draw.state, sites, before, draw.flips, random)) {
        const soft_errors::NumberFormat& format = draw.state.tensors[number.tensor].format;
        soft_errors::store_bits(format, number.bits, place_of(draw.tensors[number.tensor], format, number.index));
    }
    model.restored();
    DrawnAlteration drawn = described(draw.state, sites);
    drawn.drawn_from = draw.bits;
    return drawn;
}

void check_alteration(Model& model, const base::Trial& trial)
{
    static_cast<void>(draw_of(model, trial));
}

DrawnAlteration put_nan(Model& model)
{
    const StateTensor tensor = last_parameters(model);
    const std::uint64_t nan = soft_errors::nearest_bits(soft_errors::float32, std::numeric_limits<double>::quiet_NaN());
    soft_errors::store_bits(soft_errors::float32, nan, tensor.bytes.data());
    model.restored();
    return {.path = tensor.path, .bits = {}, .index = "0"};
}

void check_positive(Model& model)
{
    static_cast<void>(last_parameters(model));
}

StateNumbers numbers_of(Model& model)
{
    StateNumbers all;
    for (const StateTensor& tensor : model.state()) {
        if (tensor.type == ElementType::float32) add_numbers<float>(all, tensor.bytes);
        if (tensor.type == ElementType::float64) add_numbers<double>(all, tensor.bytes);
    }
    return all;
}

std::string state_checksum(Model& model)
{
    base::Fnv1a hash;
    for (const StateTensor& tensor : model.state()) {
        const std::uint32_t crc = soft_errors::crc32c(tensor.bytes);  // several times as fast as FNV-1a
        hash.add(std::as_bytes(std::span{&crc, 1}));
    }
    return hash.text();
}

}  // namespace ddl
