// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/alteration/replay.hpp"

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/words.hpp"
#include "soft-errors/state/alteration_record.hpp"
#include "soft-errors/state/injection_sequence.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace soft_errors {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

struct Target {
    std::string to;
    std::vector<std::size_t> permutation;  // empty: same order of axes
};

std::vector<std::size_t> permutation_of(const base::CsvTable& map, std::size_t row)
{
    std::vector<std::size_t> axes;
    for (const std::string& word : base::split(map.text(row, "permutation"), ' ')) {
        if (word.empty()) continue;
        axes.push_back(static_cast<std::size_t>(base::parse<std::uint64_t>(word)));
    }
    std::vector<std::size_t> sorted = axes;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i)
        if (sorted[i] != i)
            base::fail(map.place(row, "permutation"), ": '", map.text(row, "permutation"),
                       "' is not an order of axes, such as 1 0");
    return axes;
}

std::map<std::string, Target> targets(const fs::path& map)
{
    std::map<std::string, Target> all;
    if (map.empty()) return all;
    const base::CsvTable table{map};
    table.refuse_cut_off();
    for (std::size_t row = 0; row < table.rows(); ++row)
        all[without_leading_slash(table.text(row, "from"))] = {without_leading_slash(table.text(row, "to")),
                                                               permutation_of(table, row)};
    return all;
}

// A tensor of the record and the corresponding tensor of this state.
class Pairing {
 public:
    Pairing(const StoredState& state, const std::map<std::string, Target>& targets, const std::string& from)
        : from_{from}
    {
        const auto target = targets.find(from);
        const std::string to = target == targets.end() ? from : target->second.to;
        const auto is_it = [&](const Tensor& tensor) { return tensor.path == to; };
        const auto found = std::ranges::find_if(state.tensors, is_it);
        if (found == state.tensors.end())
            base::fail(state.path.string(), " has no tensor ", to, ", which the record alters (--map names another)");
        tensor = &*found;
        place = static_cast<std::size_t>(found - state.tensors.begin());
        if (target != targets.end()) permutation_ = target->second.permutation;
        if (permutation_.empty()) {
            permutation_.resize(tensor->shape.size());
            std::iota(permutation_.begin(), permutation_.end(), std::size_t{0});
        }
        if (permutation_.size() != tensor->shape.size())
            base::fail("--map: ", to, " has ", tensor->shape.size(), " axes, not ", permutation_.size());
        from_shape.resize(permutation_.size());
        for (std::size_t k = 0; k < permutation_.size(); ++k) from_shape[permutation_[k]] = tensor->shape[k];
    }

    // Index in this state's tensor of number `index` of the record's.
    std::uint64_t here(std::uint64_t index) const
    {
        if (index >= tensor->elements)
            base::fail("the record alters element ", index, " of ", from_, ", which has only ", tensor->elements);
        std::vector<std::uint64_t> coordinates(from_shape.size());
        for (std::size_t axis = from_shape.size(); axis-- > 0; index /= from_shape[axis])
            coordinates[axis] = index % from_shape[axis];
        std::uint64_t to = 0;
        for (std::size_t k = 0; k < permutation_.size(); ++k) to = to * tensor->shape[k] + coordinates[permutation_[k]];
        return to;
    }

    const Tensor* tensor = nullptr;
    std::size_t place = 0;
    std::vector<std::uint64_t> from_shape;

 private:
    std::string from_;
    std::vector<std::size_t> permutation_;
};

// Merges flips of the same number into one site.
std::vector<Site> sorted_sites(std::vector<Site> sites)
{
    const auto key = [](const Site& site) { return std::pair{site.tensor, site.index}; };
    std::ranges::stable_sort(sites, [&](const Site& a, const Site& b) { return key(a) < key(b); });
    std::vector<Site> merged;
    for (const Site& site : sites) {
        if (!merged.empty() && key(merged.back()) == key(site))
            merged.back().flipped ^= site.flipped;
        else
            merged.push_back(site);
    }
    return merged;
}

bool is_same_type(NumberFormat one, NumberFormat other)
{
    one.big_endian = other.big_endian = false;
    return one == other;
}

Replay replay_of_ours(const StoredState& state, const fs::path& record, const std::map<std::string, Target>& map)
{
    const AlterationRecord alteration = read_alteration(record);
    std::vector<Pairing> pairs;
    for (const AlteredTensor& old : alteration.tensors) {
        const Pairing& pair = pairs.emplace_back(state, map, old.path);
        if (!is_same_type(pair.tensor->format, old.format))
            base::fail(pair.tensor->path, " is of type ", format_name(pair.tensor->format), "; the record is of ",
                       format_name(old.format));
        if (pair.from_shape != old.shape)
            base::fail(pair.tensor->path, " does not have the record's shape ", old.path,
                       " (--map has a permutation of axes)");
    }
    Replay replay{.scale = alteration.scale};
    for (const AlteredNumber& number : alteration.numbers) {
        const Pairing& pair = pairs[number.tensor];
        replay.sites.push_back({pair.place, pair.here(number.index), number.before ^ number.after});
    }
    return replay;
}

// Replays an injection sequence. Where it has no index, a number is drawn that is not used yet.
Replay replay_of_theirs(const StoredState& state, const ordered_json& json, const std::map<std::string, Target>& map,
                        base::Random& random)
{
    Replay replay;
    std::map<std::string, Pairing> pairs;
    std::map<std::size_t, std::set<std::uint64_t>> drawn;  // [tensor]
    for (const Injection& one : injections_of(json)) {
        const Pairing& pair = pairs.try_emplace(one.path, state, map, one.path).first->second;
        const std::uint64_t all = pair.tensor->elements;
        std::set<std::uint64_t>& taken = drawn[pair.place];
        if (one.index.empty() && taken.size() >= all)
            base::fail(one.path, " has fewer elements than the record alters");
        std::uint64_t index =
            one.index.empty() ? base::draw_below(random, all) : index_in(one, pair.from_shape, pair.tensor->path);
        while (!taken.insert(index).second && one.index.empty()) index = base::draw_below(random, all);
        replay.sites.push_back(
            {pair.place, pair.here(index), flipped_bits(one, pair.tensor->format, pair.tensor->path)});
    }
    return replay;
}

}  // namespace

Replay replayed(const StoredState& state, const fs::path& record, const fs::path& map, base::Random& random)
try {
    const ordered_json json = base::read_json(record);
    const std::map<std::string, Target> to = targets(map);
    if (!json.is_object()) base::fail("is not a record");
    Replay replay = is_alteration(json) ? replay_of_ours(state, record, to) : replay_of_theirs(state, json, to, random);
    replay.sites = sorted_sites(std::move(replay.sites));
    std::erase_if(replay.sites, [&](const Site& site) { return !replay.scale && site.flipped == 0; });
    if (replay.sites.empty()) base::fail("alters nothing");
    return replay;
} catch (const nlohmann::json::exception&) {
    base::fail("--replay ", record.string(),
               ": is neither a record of ddl-alter nor of the form {\"path\": [[index, bits], ..]}");
} catch (const base::Error& error) {
    base::fail("--replay ", record.string(), ": ", error.what());
}

}  // namespace soft_errors
