// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/convert/flows.hpp"

#include <utility>

namespace convert {

namespace {

using Kind = ArrowEnd::Kind;

enum class Direction : std::uint8_t { from_root, to_root };

Direction direction(otf2::Operation operation)
{
    using otf2::Operation;
    const bool gathers =
        operation == Operation::gather || operation == Operation::gatherv || operation == Operation::reduce;
    return gathers ? Direction::to_root : Direction::from_root;
}

}  // namespace

Flows::Flows(const otf2::Archive& archive, Put put) : archive_{archive}, put_{std::move(put)}
{
    for (const otf2::Communicator& communicator : archive.communicators) {
        std::map<std::uint32_t, std::uint32_t>& ranks = ranks_.emplace_back();
        for (std::uint32_t rank = 0; rank < communicator.members.size(); ++rank) {
            const std::uint32_t location = communicator.members[rank];
            if (location != otf2::nowhere) ranks.try_emplace(archive.locations[location].process, rank);
        }
    }
}

// Correlation ids are unique within the process that launches the kernels, so that process becomes part of the arrow's
// id.
void Flows::launch(const otf2::At& at, std::int64_t correlation)
{
    const otf2::Location& location = archive_.locations[at.location];
    if (location.process == otf2::nowhere || correlation <= 0 || correlation >> 40 != 0) return;
    const std::uint32_t creator = archive_.processes[location.process].creator;
    const std::uint64_t process = creator == otf2::nowhere ? location.process : creator;
    put_({.kind = Kind::launch,
          .tail = location.kind != otf2::LocationKind::accelerator_stream,
          .id = process << 40U | static_cast<std::uint64_t>(correlation),
          .at = at});
}

void Flows::send(const otf2::At& at, const otf2::MessageRecord& message)
{
    on(at);
    const std::uint32_t own = rank_of(at.location, message.communicator);
    if (own != otf2::nowhere) end({Kind::message, message.communicator, own, message.peer, message.tag}, true, at);
}

void Flows::receive_request(const otf2::At& at, std::uint64_t request)
{
    on(at);
    receives_.begin(request, at.time_ns);
}

void Flows::receive(const otf2::At& at, const otf2::MessageRecord& message)
{
    on(at);
    receives_.finish(message.request, at.time_ns, {at, message},
                     [&](std::int64_t, const auto& done) { received(done); });
}

void Flows::collective_begin(const otf2::At& at)
{
    on(at);
    collective_began_ns_ = at.time_ns;
}

void Flows::collective_request(const otf2::At& at, std::uint64_t request)
{
    on(at);
    collectives_.begin(request, at.time_ns);
}

void Flows::collective(const otf2::At& at, const otf2::CollectiveRecord& record)
{
    on(at);
    collectives_.finish(record.request, collective_began_ns_, {at, record},
                        [&](std::int64_t begin_ns, const auto& done) { collected(begin_ns, done); });
}

void Flows::finish()
{
    on({otf2::nowhere, INT64_MAX});
}

// At the end of a location, its operations that never ended stop delaying the ones that did.
void Flows::on(const otf2::At& at)
{
    if (at.location != location_) {
        now_ns_ = INT64_MAX;
        receives_.all_done([&](std::int64_t, const auto& done) { received(done); });
        collectives_.all_done([&](std::int64_t begin_ns, const auto& done) { collected(begin_ns, done); });
    }
    location_ = at.location;
    now_ns_ = at.time_ns;
}

std::uint32_t Flows::rank_of(std::uint32_t location, std::uint32_t communicator) const
{
    if (communicator == otf2::nowhere || ranks_[communicator].size() < 2) return otf2::nowhere;
    const auto found = ranks_[communicator].find(archive_.locations[location].process);
    return found == ranks_[communicator].end() ? otf2::nowhere : found->second;
}

// The n-th tail of a channel belongs to its n-th head. A head that was delayed by earlier operations arrives after its
// call ended; it is put a nanosecond earlier, so that it lies within the call.
void Flows::end(const Channel& channel, bool tail, const otf2::At& at)
{
    const auto [place, added] = channels_.try_emplace(channel);
    Used& used = place->second;
    if (added) used.number = channels_.size();
    std::uint64_t& count = tail ? used.tails : used.heads;
    const std::int64_t late = !tail && at.time_ns < now_ns_ ? 1 : 0;
    put_({.kind = std::get<Kind>(channel),
          .tail = tail,
          .id = used.number << 32U | count,
          .at = {at.location, at.time_ns - late}});
    ++count;
}

void Flows::received(const Done<otf2::MessageRecord>& done)
{
    const otf2::MessageRecord& message = done.record;
    const std::uint32_t own = rank_of(done.at.location, message.communicator);
    if (own != otf2::nowhere)
        end({Kind::message, message.communicator, message.peer, own, message.tag}, false, done.at);
}

void Flows::collected(std::int64_t begin_ns, const Done<otf2::CollectiveRecord>& done)
{
    const std::uint32_t communicator = done.record.communicator;
    const std::uint32_t own = rank_of(done.at.location, communicator);
    if (own == otf2::nowhere) return;
    const auto size = static_cast<std::uint32_t>(archive_.communicators[communicator].members.size());
    const std::uint32_t root = done.record.root == otf2::no_root ? 0 : done.record.root;
    if (root >= size) return;  // an intercommunicator
    const bool from_root = direction(done.record.operation) == Direction::from_root;
    const bool tail = (own == root) == from_root;
    const otf2::At at{done.at.location, tail ? begin_ns : done.at.time_ns};
    for (std::uint32_t other = own == root ? 0 : own; other < size; ++other) {
        if (other != root) end({Kind::collective, communicator, root, other, from_root}, tail, at);
        if (own != root) return;
    }
}

}  // namespace convert
