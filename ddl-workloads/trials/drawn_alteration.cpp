#include "ddl-workloads/trials/drawn_alteration.hpp"

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/state/checksums.hpp"
#include "base/state/drawing/flips.hpp"
#include "base/state/drawing/selection.hpp"
#include "ddl-workloads/alteration/live_alteration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace ddl {

namespace {

constexpr std::size_t most_paths = 10;  // that a row names

// In the order of a checkpoint: by path.
std::vector<StateTensor> sorted_state(Model& model)
{
    std::vector<StateTensor> state = model.state();
    std::sort(state.begin(), state.end(),
              [](const StateTensor& one, const StateTensor& other) { return one.path < other.path; });
    return state;
}

base::NamedTensors named(const std::vector<StateTensor>& state)
{
    base::NamedTensors all{.name = "the training", .tensors = {}};
    for (const StateTensor& tensor : state) {
        const base::NumberFormat format = format_of(tensor.type);
        all.tensors.push_back({.path = tensor.path,
                               .format = format,
                               .shape = {tensor.shape.begin(), tensor.shape.end()},
                               .elements = tensor.bytes.size() / static_cast<std::size_t>(format.bytes)});
    }
    return all;
}

// "optimizer/momentum/layers.0.weight" is of layers.0.weight, as "model/layers.0.weight" is.
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

std::vector<std::string> locations_of(const base::Trial& trial, const base::NamedTensors& state)
{
    if (is_whole_path(trial.location)) return {trial.location};
    std::vector<std::string> begins;
    if (trial.target != "optimizer") begins.emplace_back("model/");
    if (trial.target != "model") begins.emplace_back("optimizer/");
    if (trial.location.empty()) return begins;
    std::vector<std::string> paths;
    for (const base::NamedTensor& tensor : state.tensors)
        for (const std::string& begin : begins)
            if (tensor.path.starts_with(begin) && tensor_name(tensor.path).starts_with(trial.location))
                paths.push_back(tensor.path);
    if (paths.empty())
        base::fail("trial ", trial.name, ": the training's ", trial.target, " has no tensor whose name begins with '",
                   trial.location, "'");
    return paths;
}

void append(std::string& words, const std::string& word, char separator)
{
    if (!words.empty()) words += separator;
    words += word;
}

std::byte* place_of(const StateTensor& tensor, const base::NumberFormat& format, std::uint64_t index)
{
    return tensor.bytes.data() + index * static_cast<std::uint64_t>(format.bytes);
}

DrawnAlteration described(const base::NamedTensors& state, const std::vector<base::Site>& sites)
{
    DrawnAlteration drawn;
    std::array<bool, 64> flipped{};
    std::size_t last = SIZE_MAX;
    std::size_t paths = 0;
    for (const base::Site& site : sites) {
        const base::NamedTensor& tensor = state.tensors[site.tensor];
        for (int bit = 0; bit < tensor.format.bits(); ++bit)
            if ((site.flipped & base::bit_from_left(tensor.format, bit)) != 0)
                flipped.at(static_cast<std::size_t>(bit)) = true;
        if (std::exchange(last, site.tensor) == site.tensor || ++paths > most_paths) continue;
        append(drawn.path, tensor.path, base::path_separator);
        append(drawn.index, std::to_string(site.index), base::path_separator);
    }
    for (std::size_t bit = 0; bit < flipped.size(); ++bit)
        if (flipped.at(bit)) append(drawn.bits, std::to_string(bit), ' ');
    return drawn;
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

DrawnAlteration alter_state(Model& model, const base::Trial& trial)
{
    const std::vector<StateTensor> tensors = sorted_state(model);
    const base::NamedTensors state = named(tensors);
    base::SiteRequest request;
    request.flips = static_cast<std::uint64_t>(trial.count);
    request.locations = locations_of(trial, state);
    base::FlipRequest flips;
    if (!trial.bits.empty()) flips.bits = base::parse_bits("bits", trial.bits);

    base::Random random = base::random_stream(trial.seed, 0);
    const std::vector<std::size_t> eligible = base::eligible(state, request);
    std::vector<base::Site> sites = base::draw_sites(state, eligible, request, flips, random);
    std::vector<base::NumberBits> before;
    for (const base::Site& site : sites) {
        const base::NumberFormat& format = state.tensors[site.tensor].format;
        const std::byte* const at = place_of(tensors[site.tensor], format, site.index);
        before.push_back({site.tensor, site.index, base::load_bits(format, at)});
    }
    for (const base::NumberBits& number : base::altered(state, sites, before, flips, random)) {
        const base::NumberFormat& format = state.tensors[number.tensor].format;
        base::store_bits(format, number.bits, place_of(tensors[number.tensor], format, number.index));
    }
    model.restored();

    DrawnAlteration drawn = described(state, sites);
    for (const std::size_t tensor : eligible)
        drawn.drawn_from += static_cast<double>(state.tensors[tensor].elements) *
                            static_cast<double>(base::allowed_bits(state.tensors[tensor], flips).size());
    return drawn;
}

DrawnAlteration put_nan(Model& model)
{
    const std::vector<std::string> names = model.gradient_names();
    if (names.empty()) base::fail("a positive trial needs a model with parameters");
    const std::string path = "model/" + names.back();
    for (const StateTensor& tensor : model.state()) {
        if (tensor.path != path || tensor.type != ElementType::float32) continue;
        const std::uint64_t nan = base::nearest_bits(base::float32, std::numeric_limits<double>::quiet_NaN());
        base::store_bits(base::float32, nan, tensor.bytes.data());
        model.restored();
        return {.path = path, .bits = {}, .index = "0"};
    }
    base::fail("a positive trial needs numbers of 32 bits in ", path);
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
        const std::uint32_t crc = base::crc32c(tensor.bytes);  // several times as fast as the hash
        hash.add(std::as_bytes(std::span{&crc, 1}));
    }
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash.value()));
    return digits.data();
}

}  // namespace ddl
