// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/merge/merged_definitions.hpp"

#include "trace-tools/otf2/handles.hpp"

#include <algorithm>

namespace merge {

namespace {

constexpr std::size_t at(Space space)
{
    return static_cast<std::size_t>(space);
}

Space space_of_scope(std::uint64_t scope)
{
    switch (scope) {
        case OTF2_SCOPE_LOCATION:
            return Space::location;
        case OTF2_SCOPE_LOCATION_GROUP:
            return Space::location_group;
        case OTF2_SCOPE_SYSTEM_TREE_NODE:
            return Space::node;
        case OTF2_SCOPE_GROUP:
            return Space::group;
        default:
            return Space::number;
    }
}

Space space_of_members(std::uint64_t group_type)
{
    switch (group_type) {
        case OTF2_GROUP_TYPE_LOCATIONS:
        case OTF2_GROUP_TYPE_COMM_LOCATIONS:
            return Space::location;
        case OTF2_GROUP_TYPE_REGIONS:
            return Space::region;
        case OTF2_GROUP_TYPE_METRIC:
            return Space::metric;
        default:
            return Space::number;
    }
}

bool lists_speakers(const Row& row)
{
    return row.kind == Kind::group && row.cells[2] == OTF2_GROUP_TYPE_COMM_LOCATIONS;
}

}  // namespace

MergedDefinitions::MergedDefinitions(std::vector<const RawDefinitions*> archives)
    : archives_{std::move(archives)}, numbers_(archives_.size()), first_speaker_(archives_.size())
{
    for (const Space space : {Space::location_group, Space::location})
        for (std::size_t other = 1; other < archives_.size(); ++other)
            next_of_first_[at(space)] += archives_[other]->rows_of[at(space)].size();
    take_in_all(0);
}

void MergedDefinitions::same_node(std::size_t archive, std::uint64_t node, std::uint64_t of_first)
{
    numbers_[archive][at(Space::node)][node] = resolve(0, Space::node, of_first);
}

void MergedDefinitions::add(std::size_t archive)
{
    take_in_all(archive);
}

// Processes and locations come first, to keep the order of their numbers; then the lists that group members index.
void MergedDefinitions::take_in_all(std::size_t archive)
{
    const std::vector<Row>& rows = archives_[archive]->rows;
    const auto take_in_if = [&](const auto& condition) {
        for (const Row& row : rows)
            if (form(row.kind).numbered && condition(row))
                resolve(archive, form(row.kind).cells.front(), row.cells.front());
    };
    take_in_if([](const Row& row) { return row.kind == Kind::location_group; });
    take_in_if([](const Row& row) { return row.kind == Kind::location; });
    take_in_if(lists_speakers);
    take_in_if([&](const Row& row) { return row.kind != Kind::node || archive == 0; });
    for (const Row& row : rows)
        if (!form(row.kind).numbered) take_in_detail(archive, row);
}

std::uint64_t MergedDefinitions::resolve(std::size_t archive, Space space, std::uint64_t old)
{
    const auto known = numbers_[archive][at(space)].find(old);
    if (known != numbers_[archive][at(space)].end()) return known->second;
    const Row* row = archives_[archive]->find(space, old);
    return row == nullptr ? undefined(space) : take_in(archive, *row);
}

std::uint64_t MergedDefinitions::take_in(std::size_t archive, const Row& row)
{
    const Space space = form(row.kind).cells.front();
    const std::uint64_t old = row.cells.front();
    numbers_[archive][at(space)][old] = undefined(space);  // a self-reference becomes undefined
    Row mine = mapped(archive, row);
    mine.cells.front() = 0;
    std::uint64_t number = 0;
    if (const auto known = known_.find(mine);
        form(row.kind).shared && known != known_.end() && known->second.archive != archive) {
        number = known->second.number;
    } else if (lists_speakers(row)) {
        number = take_in_speakers(archive, std::move(mine), old);
    } else {
        number = new_number(archive, space, old);
        known_.try_emplace(mine, Known{archive, number});
        append(space, std::move(mine), number);
        if (row.kind == Kind::node && archive > 0) others_nodes_.insert(number);
    }
    numbers_[archive][at(space)][old] = number;
    return number;
}

// An archive has one list per paradigm of the locations that group members index; a second list is kept, but not used.
std::uint64_t MergedDefinitions::take_in_speakers(std::size_t archive, Row row, std::uint64_t old)
{
    const std::uint64_t paradigm = row.cells[3];
    const auto list = speakers_.find(paradigm);
    const bool first_of_archive = first_speaker_[archive].try_emplace(paradigm, 0).second;
    if (list == speakers_.end() || !first_of_archive) {
        const std::uint64_t number = new_number(archive, Space::group, old);
        if (first_of_archive) speakers_[paradigm] = number;
        return append(Space::group, std::move(row), number);
    }
    std::vector<std::uint64_t>& all = this->row(Space::group, list->second).list;
    first_speaker_[archive][paradigm] = all.size();
    all.insert(all.end(), row.list.begin(), row.list.end());
    return list->second;
}

// Skips details of nodes that the first archive defines; equal details are added once.
void MergedDefinitions::take_in_detail(std::size_t archive, const Row& row)
{
    const bool of_node = form(row.kind).cells.front() == Space::node;
    if (of_node && archive > 0 && !others_nodes_.contains(number(archive, Space::node, row.cells.front()))) return;
    Row mine = mapped(archive, row);
    if (known_.try_emplace(mine, Known{archive, 0}).second) rows_.push_back(std::move(mine));
}

Row MergedDefinitions::mapped(std::size_t archive, const Row& row)
{
    const Form& made = form(row.kind);
    Row mine = row;
    for (std::size_t i = made.numbered ? 1 : 0; i < row.cells.size(); ++i) {
        const Space space = made.cells[i] == Space::scope ? space_of_scope(row.cells[i - 1]) : made.cells[i];
        if (space == Space::value)
            mine.cells[i] = mapped_value(archive, row.cells[i - 1], row.cells[i]);
        else if (space != Space::number)
            mine.cells[i] = resolve(archive, space, row.cells[i]);
    }
    if (row.kind == Kind::group)
        map_members(archive, mine);
    else if (made.list == Space::value)
        for (std::size_t i = 2; i < row.list.size(); i += 3)
            mine.list[i] = mapped_value(archive, row.list[i - 1], row.list[i]);
    else if (made.list != Space::number)
        for (std::uint64_t& item : mine.list) item = resolve(archive, made.list, item);
    return mine;
}

std::uint64_t MergedDefinitions::mapped_value(std::size_t archive, std::uint64_t type, std::uint64_t value)
{
    if (type < OTF2_TYPE_STRING || type > OTF2_TYPE_LOCATION_GROUP) return value;
    const auto space = static_cast<Space>(type - OTF2_TYPE_STRING);
    return resolve(archive, space, space == Space::location ? value : value & UINT32_MAX);
}

void MergedDefinitions::map_members(std::size_t archive, Row& group)
{
    const std::uint64_t type = group.cells[2];
    const bool in_communicator = type == OTF2_GROUP_TYPE_COMM_GROUP;
    const bool global = (group.cells[4] & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0;
    const Space space = in_communicator && global ? Space::location : space_of_members(type);
    const auto first = first_speaker_[archive].find(group.cells[3]);
    const std::uint64_t before = in_communicator && first != first_speaker_[archive].end() ? first->second : 0;
    for (std::uint64_t& member : group.list)
        member = space == Space::number ? member + before : resolve(archive, space, member);
}

std::uint64_t MergedDefinitions::new_number(std::size_t archive, Space space, std::uint64_t old)
{
    if (archive == 0 && space != Space::location_group && space != Space::location) return old;
    std::uint64_t& next = (archive == 0 ? next_of_first_ : next_)[at(space)];
    while (places_.contains({space, next})) ++next;
    return next++;
}

std::uint64_t MergedDefinitions::append(Space space, Row row, std::uint64_t number)
{
    row.cells.front() = number;
    places_[{space, number}] = rows_.size();
    rows_.push_back(std::move(row));
    return number;
}

std::uint64_t MergedDefinitions::number(std::size_t archive, Space space, std::uint64_t old) const
{
    const auto found = numbers_[archive][at(space)].find(old);
    return found == numbers_[archive][at(space)].end() ? undefined(space) : found->second;
}

std::map<std::uint64_t, std::uint64_t> MergedDefinitions::changed_numbers(std::size_t archive, Space space) const
{
    const auto& all = numbers_[archive][at(space)];
    if (std::ranges::all_of(all, [](const auto& number) { return number.first == number.second; })) return {};
    return {all.begin(), all.end()};
}

std::uint64_t MergedDefinitions::string(const std::string& text)
{
    Row row{.kind = Kind::string, .cells = {0}, .text = text};
    const auto known = known_.find(row);
    if (known != known_.end()) return known->second.number;
    const std::uint64_t number = new_number(archives_.size(), Space::string, 0);
    known_.try_emplace(row, Known{archives_.size(), number});
    return append(Space::string, std::move(row), number);
}

void MergedDefinitions::rename_process(std::uint64_t process, const std::string& name)
{
    const std::uint64_t text = string(name);
    row(Space::location_group, process).cells[1] = text;
}

void MergedDefinitions::set_events(std::uint64_t location, std::uint64_t events)
{
    row(Space::location, location).cells[3] = events;
}

std::uint64_t MergedDefinitions::metric_of_node(std::uint64_t metric_class, std::uint64_t location)
{
    const Row& recorded = row(Space::metric, metric_class);
    const std::uint64_t process = row(Space::location, location).cells[4];
    const std::uint64_t node = process == undefined(Space::location_group)
                                   ? undefined(Space::node)
                                   : row(Space::location_group, process).cells[3];
    if (recorded.kind != Kind::metric_class || recorded.cells[1] != OTF2_METRIC_ASYNCHRONOUS ||
        node == undefined(Space::node))
        return metric_class;
    const auto [known, added] = metrics_of_nodes_.try_emplace({metric_class, location}, 0);
    if (added)
        known->second = append(
            Space::metric,
            {.kind = Kind::metric_instance, .cells = {0, metric_class, location, OTF2_SCOPE_SYSTEM_TREE_NODE, node}},
            new_number(archives_.size(), Space::metric, 0));
    return known->second;
}

std::string MergedDefinitions::text(std::uint64_t string) const
{
    return string == undefined(Space::string) ? "" : row(Space::string, string).text;
}

void MergedDefinitions::write(OTF2_GlobalDefWriter* writer) const
{
    std::vector<const Row*> rows;
    for (const Row& row : rows_) rows.push_back(&row);
    std::ranges::stable_sort(rows, [](const Row* a, const Row* b) {
        if (a->kind != b->kind) return a->kind < b->kind;
        return form(a->kind).numbered && a->cells.front() < b->cells.front();
    });
    for (const Row* row : rows) otf2::check(form(row->kind).write(writer, *row), "write a definition");
}

}  // namespace merge
