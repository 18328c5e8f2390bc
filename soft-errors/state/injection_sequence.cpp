// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/state/injection_sequence.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "soft-errors/state/alteration_record.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace soft_errors {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

std::vector<int> set_bits(const NumberFormat& format, std::uint64_t bits)
{
    std::vector<int> all;
    for (int bit = 0; bit < format.bits(); ++bit)
        if ((bits & bit_from_left(format, bit)) != 0) all.push_back(bit);
    return all;
}

std::vector<Injection> injections_of_ours(const fs::path& record)
{
    const AlterationRecord alteration = read_alteration(record);
    if (alteration.scale) base::fail("multiplies numbers (--scale) instead of flipping bits");
    std::vector<Injection> all;
    for (const AlteredNumber& number : alteration.numbers) {
        const AlteredTensor& tensor = alteration.tensors[number.tensor];
        all.push_back({tensor.path, {number.index}, set_bits(tensor.format, number.before ^ number.after)});
    }
    return all;
}

bool is_whole(const ordered_json& number)
{
    return number.is_number_unsigned() || (number.is_number_integer() && number.get<std::int64_t>() >= 0);
}

}  // namespace

std::uint64_t index_in(const Injection& one, std::span<const std::uint64_t> shape, const std::string& tensor)
{
    if (one.index.size() == 1) return one.index.front();
    if (one.index.size() != shape.size())
        base::fail(tensor, " has ", shape.size(), " axes, but the record's index has ", one.index.size());
    std::uint64_t index = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (one.index[axis] >= shape[axis])
            base::fail(tensor, " has ", shape[axis], " numbers along axis ", axis, ", so none has index ",
                       one.index[axis]);
        index = index * shape[axis] + one.index[axis];
    }
    return index;
}

std::uint64_t flipped_bits(const Injection& one, const NumberFormat& format, const std::string& tensor)
{
    std::uint64_t flipped = 0;
    for (const int bit : one.bits) {
        if (bit < 0 || bit >= format.bits())
            base::fail("bit ", bit, " of ", tensor, " cannot flip: its type, ", format_name(format), ", has bits 0 to ",
                       format.bits() - 1);
        flipped ^= bit_from_left(format, bit);
    }
    return flipped;
}

std::vector<Injection> injections_of(const ordered_json& theirs)
{
    std::vector<Injection> all;
    for (const auto& [path, sequence] : theirs.items()) {
        if (!sequence.is_array()) base::fail(path, ": not a list of alterations, each [index, bits]");
        for (const ordered_json& one : sequence) {
            if (!one.is_array() || one.size() != 2 || !one[0].is_array() || !one[1].is_array())
                base::fail(path, ": each alteration is [index, bits], such as [[1, 4], [17]]");
            if (!std::ranges::all_of(one[0], is_whole) || !std::ranges::all_of(one[1], is_whole))
                base::fail(path, ": index and bits are integers of 0 or more, not ", one.dump());
            all.push_back({without_leading_slash(path), one[0].get<std::vector<std::uint64_t>>(),
                           one[1].get<std::vector<int>>()});
        }
    }
    return all;
}

std::vector<Injection> read_injections(const fs::path& record)
try {
    const ordered_json json = base::read_json(record);
    if (!json.is_object()) base::fail("is not an object");
    return is_alteration(json) ? injections_of_ours(record) : injections_of(json);
} catch (const nlohmann::json::exception&) {
    base::fail(record.string(), " is neither a record of ddl-alter nor of the form {\"path\": [[index, bits], ..]}");
} catch (const base::Error& error) {
    base::fail(record.string(), ": ", error.what());
}

}  // namespace soft_errors
