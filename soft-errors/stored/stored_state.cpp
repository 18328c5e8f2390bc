// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/stored/stored_state.hpp"

#include "base/contract/stored_state.hpp"
#include "base/error.hpp"
#include "soft-errors/state/confined_work.hpp"
#include "soft-errors/stored/listing.hpp"

#include <algorithm>
#include <set>

namespace soft_errors {

namespace fs = std::filesystem;

namespace {

Listing confined_listing(const StoredFile& file)
try {
    WorkLimits limits;
    limits.memory_bytes += file.bytes;
    return unpacked_listing(confined_work(file.path.string(), limits, [&] { return packed_listing(list(file)); }));
} catch (const nlohmann::json::exception&) {
    base::fail(file.path.string(), " is damaged: HDF5 reads invalid data");
}

void add(StoredState& state, StoredFile file, std::vector<Tensor> tensors)
{
    for (Tensor& tensor : tensors) {
        tensor.file = state.files.size();
        state.tensors.push_back(std::move(tensor));
    }
    state.files.push_back(std::move(file));
}

bool is_shard(const OtherFileLink& link)
{
    constexpr std::string_view begin = base::checkpoint::shard_begin;
    constexpr std::string_view end = base::checkpoint::shard_end;
    if (!link.file.starts_with(begin) || !link.file.ends_with(end)) return false;
    const std::string number = link.file.substr(begin.size(), link.file.size() - begin.size() - end.size());
    return !number.empty() && std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
}

// Adds the targets of the index's links in each shard; a shard's other tensors belong to its rank alone.
void add_shards(StoredState& state, const fs::path& directory, const std::vector<OtherFileLink>& links)
{
    std::set<std::string> names;
    std::set<std::pair<std::string, std::string>> linked;
    for (const OtherFileLink& link : links) {
        names.insert(link.file);
        linked.emplace(link.file, link.path_there);
    }
    for (const std::string& name : names) {
        const StoredFile file = stored_file(directory / name, name);
        Listing shard = confined_listing(file);
        if (!shard.ours) base::fail(file.path.string(), " is not a shard of a checkpoint");
        const auto own = [&](const Tensor& tensor) {
            const bool is_own = !linked.contains({name, tensor.path});
            if (is_own) state.left_alone.push_back({tensor.path, "belongs to " + name + " only: give that file"});
            return is_own;
        };
        std::erase_if(shard.tensors, own);
        add(state, file, std::move(shard.tensors));
    }
}

}  // namespace

StoredState read_state(const fs::path& path)
{
    StoredState state;
    state.path = path;
    const bool directory = fs::is_directory(path) && fs::exists(path / base::checkpoint::index);
    const StoredFile file =
        directory ? stored_file(path / base::checkpoint::index, base::checkpoint::index) : stored_file(path);
    Listing listing = confined_listing(file);
    state.left_alone = std::move(listing.left_alone);
    add(state, file, std::move(listing.tensors));
    const bool shards =
        directory && listing.ours && !listing.links.empty() && std::ranges::all_of(listing.links, is_shard);
    if (shards) {
        add_shards(state, path, listing.links);
        return state;
    }
    for (const OtherFileLink& link : listing.links)
        state.left_alone.push_back({link.path, "lies in another file, " + link.file});
    if (state.tensors.empty() && listing.ours && !listing.links.empty())
        base::fail(path.string(), " holds only links to shards: give the checkpoint's directory");
    return state;
}

std::uint64_t place_of(const StoredState& state, const Tensor& tensor, std::uint64_t index)
{
    const std::uint64_t begin = state.files[tensor.file].at;
    const auto size = static_cast<std::uint64_t>(tensor.format.bytes);
    if (tensor.layout == Tensor::Layout::plain) return begin + tensor.at + index * size;
    const InChunk place = in_chunk(tensor, index);
    return begin + tensor.chunks_at.at(place.chunk) + place.index * size;
}

NamedTensors named_tensors(const StoredState& state)
{
    NamedTensors named{.name = state.path.string()};
    for (const Tensor& tensor : state.tensors)
        named.tensors.push_back(
            {.path = tensor.path, .format = tensor.format, .shape = tensor.shape, .elements = tensor.elements});
    return named;
}

void take_precision(StoredState& state, const std::string& precision)
{
    for (Tensor& tensor : state.tensors) {
        const bool two_bytes = tensor.format.kind == NumberFormat::Kind::natural && tensor.format.bytes == 2;
        if (precision != "bf16" || !two_bytes) continue;
        const bool big_endian = tensor.format.big_endian;
        tensor.format = bfloat16;
        tensor.format.big_endian = big_endian;
    }
}

}  // namespace soft_errors
