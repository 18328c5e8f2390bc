// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/read/stored_definitions.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace otf2 {

namespace {

Type widened(OTF2_Type type)
{
    switch (type) {
        case OTF2_TYPE_INT8:
        case OTF2_TYPE_INT16:
        case OTF2_TYPE_INT32:
        case OTF2_TYPE_INT64:
            return Type::int64;
        case OTF2_TYPE_FLOAT:
        case OTF2_TYPE_DOUBLE:
            return Type::real;
        case OTF2_TYPE_STRING:
            return Type::text;
        default:
            return Type::uint64;
    }
}

class Resolver {
 public:
    explicit Resolver(StoredDefinitions& stored) : stored_{stored} {}

    Definitions resolve()
    {
        clock();
        tree();
        plain();
        metrics();
        communicators();
        if (stored_.repeated > 0) problem(stored_.repeated, "definitions repeat the number of an earlier one");
        std::vector<std::string> of_others;
        if (stored_.repeated_alike > 0)
            of_others.push_back(base::join(stored_.repeated_alike, " definitions are duplicated"));
        if (dangling_ > 0) of_others.push_back(base::join(dangling_, " definitions refer to a missing one"));
        for (const auto& [word, count] : unknown_words_)
            archive_.oddities.push_back(base::join(count, " definitions with ", word, ", which is unknown"));
        return {std::move(archive_), std::move(stored_.references), std::move(of_others)};
    }

 private:
    void problem(std::size_t count, const char* what) { archive_.problems.push_back(base::join(count, " ", what)); }

    std::string text(OTF2_StringRef string)
    {
        if (string == OTF2_UNDEFINED_STRING) return "";
        const std::uint32_t index = stored_.references.strings.at(string);
        if (index != nowhere) return stored_.references.texts[index];
        ++dangling_;
        return base::join("(undefined string ", string, ")");
    }

    // Keeps unknown numbers unchanged.
    template <class Word>
    Word word(const char* kind, std::uint8_t number)
    {
        const Word word{number};
        if (!is_known(word)) ++unknown_words_[base::join(kind, " ", int{number})];
        return word;
    }

    std::uint32_t reference(const IndexTable& table, std::uint64_t number, std::uint64_t undefined)
    {
        const std::uint32_t index = table.at(number);
        if (index == nowhere && number != undefined) ++dangling_;
        return index;
    }

    void clock()
    {
        Clock& clock = archive_.clock;
        ReferenceTable& references = stored_.references;
        clock.stated = stored_.has_clock && stored_.ticks_per_s > 0;
        if (!clock.stated) {
            archive_.oddities.emplace_back("no clock properties: assuming ticks of 1 ns");
            return;
        }
        clock.ticks_per_s = references.ticks_per_s = stored_.ticks_per_s;
        references.first_tick = stored_.first_tick;
        const auto whole_s = stored_.first_tick / stored_.ticks_per_s;
        const auto rest = stored_.first_tick % stored_.ticks_per_s;
        references.first_ns = base::saturated_sum(static_cast<std::int64_t>(whole_s * 1'000'000'000),
                                                  references.duration_ns(static_cast<std::int64_t>(rest)));
        clock.begin_ns = references.first_ns;
        clock.length_ns = references.duration_ns(static_cast<std::int64_t>(stored_.length_ticks));
        if (stored_.realtime != OTF2_UNDEFINED_TIMESTAMP)
            clock.realtime_ns = static_cast<std::int64_t>(stored_.realtime);
    }

    void tree()
    {
        if (stored_.nodes.empty()) archive_.oddities.emplace_back("no system tree: nodes are not reported");
        for (const StoredNode& stored : stored_.nodes)
            archive_.nodes.push_back(
                {.name = text(stored.name),
                 .class_name = text(stored.class_name),
                 .parent = reference(stored_.node_table, stored.parent, OTF2_UNDEFINED_SYSTEM_TREE_NODE)});
        for (const StoredProcess& stored : stored_.processes)
            archive_.processes.push_back(
                {.name = text(stored.name),
                 .accelerator = stored.type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR,
                 .creator = reference(stored_.process_table, stored.creator, OTF2_UNDEFINED_LOCATION_GROUP),
                 .node = reference(stored_.node_table, stored.node, OTF2_UNDEFINED_SYSTEM_TREE_NODE)});
        for (const StoredLocation& stored : stored_.locations)
            archive_.locations.push_back(
                {.id = stored.self,
                 .name = text(stored.name),
                 .kind = word<LocationKind>("location kind", stored.type),
                 .process = reference(stored_.process_table, stored.process, OTF2_UNDEFINED_LOCATION_GROUP),
                 .events = stored.events});
        properties(stored_.node_properties, stored_.node_table, archive_.nodes);
        properties(stored_.process_properties, stored_.process_table, archive_.processes);
        properties(stored_.location_properties, stored_.references.locations, archive_.locations);
    }

    template <class Stored, class Owner>
    void properties(const std::vector<Stored>& rows, const IndexTable& table, std::vector<Owner>& owners)
    {
        for (const Stored& stored : rows) {
            const std::uint32_t owner = reference(table, stored.of, UINT64_MAX);
            if (owner != nowhere) owners[owner].properties[text(stored.name)] = value_text(stored.type, stored.value);
        }
    }

    std::string value_text(OTF2_Type type, const OTF2_AttributeValue& value)
    {
        switch (type) {
            case OTF2_TYPE_STRING:
                return text(value.stringRef);
            case OTF2_TYPE_UINT8:
                return std::to_string(value.uint8);
            case OTF2_TYPE_UINT16:
                return std::to_string(value.uint16);
            case OTF2_TYPE_UINT32:
                return std::to_string(value.uint32);
            case OTF2_TYPE_INT8:
                return std::to_string(value.int8);
            case OTF2_TYPE_INT16:
                return std::to_string(value.int16);
            case OTF2_TYPE_INT32:
                return std::to_string(value.int32);
            case OTF2_TYPE_INT64:
                return std::to_string(value.int64);
            case OTF2_TYPE_FLOAT:
                return base::join(value.float32);
            case OTF2_TYPE_DOUBLE:
                return base::join(value.float64);
            default:
                return std::to_string(value.uint64);
        }
    }

    void plain()
    {
        for (const StoredRegion& stored : stored_.regions)
            archive_.regions.push_back({.name = text(stored.name),
                                        .role = word<RegionRole>("region role", stored.role),
                                        .paradigm = word<Paradigm>("paradigm", stored.paradigm),
                                        .file = text(stored.file)});
        for (const StoredAttribute& stored : stored_.attributes)
            archive_.attributes.push_back({.id = stored.self,
                                           .name = text(stored.name),
                                           .description = text(stored.description),
                                           .type = widened(stored.type)});
    }

    void metrics()
    {
        for (const StoredMetric& stored : stored_.metrics)
            archive_.metrics.push_back({.name = text(stored.name),
                                        .unit = text(stored.unit),
                                        .description = text(stored.description),
                                        .type = widened(stored.type),
                                        .mode = static_cast<MetricMode>(stored.mode),
                                        .scale = std::pow(stored.base == OTF2_BASE_BINARY ? 2.0 : 10.0,
                                                          static_cast<double>(stored.exponent))});
        ReferenceTable& references = stored_.references;
        for (const StoredMetricClass& stored : stored_.metric_classes) {
            std::vector<std::uint32_t> members;
            for (const OTF2_MetricMemberRef member : stored.members)
                members.push_back(reference(stored_.metric_table, member, UINT64_MAX));
            stored_.add(references.metric_classes, stored.self, references.class_members, std::move(members));
        }
        for (const StoredMetricInstance& stored : stored_.metric_instances) {
            const std::uint32_t of = reference(references.metric_classes, stored.of, UINT64_MAX);
            if (of != nowhere && !references.metric_classes.add(stored.self, of)) ++stored_.repeated;
        }
    }

    // The group of a communicator lists positions in its paradigm's list of locations, or locations themselves.
    void communicators()
    {
        lists_of_locations();
        for (const StoredCommunicator& stored : stored_.communicators) {
            Communicator communicator{.name = text(stored.name), .paradigm = Paradigm::unknown, .self = false};
            const std::uint32_t of = reference(stored_.group_table, stored.group, OTF2_UNDEFINED_GROUP);
            if (of != nowhere) {
                const StoredGroup& group = stored_.groups[of];
                communicator.paradigm = word<Paradigm>("paradigm", group.paradigm);
                communicator.self = group.type == OTF2_GROUP_TYPE_COMM_SELF;
                const std::vector<std::uint64_t>* all = locations_of(group);
                for (const std::uint64_t member : group.members) {
                    const bool known = all == nullptr || member < all->size();
                    const std::uint64_t id = all == nullptr ? member : known ? (*all)[member] : UINT64_MAX;
                    communicator.members.push_back(reference(stored_.references.locations, id, UINT64_MAX - 1));
                }
            }
            archive_.communicators.push_back(std::move(communicator));
        }
    }

    const std::vector<std::uint64_t>* locations_of(const StoredGroup& group) const
    {
        if ((group.flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0 || group.type == OTF2_GROUP_TYPE_LOCATIONS)
            return nullptr;
        const auto found = lists_of_locations_.find(group.paradigm);
        return found == lists_of_locations_.end() ? nullptr : found->second;
    }

    void lists_of_locations()
    {
        for (const StoredGroup& group : stored_.groups)
            if (group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS &&
                !lists_of_locations_.try_emplace(group.paradigm, &group.members).second)
                archive_.oddities.push_back("a second list of the locations of " +
                                            otf2::text(static_cast<Paradigm>(group.paradigm)) +
                                            "; the first one is used");
    }

    StoredDefinitions& stored_;
    Archive archive_;
    std::map<OTF2_Paradigm, const std::vector<std::uint64_t>*> lists_of_locations_;
    std::map<std::string, std::size_t> unknown_words_;
    std::size_t dangling_ = 0;
};

}  // namespace

void StoredDefinitions::add_group(std::uint64_t self, StoredGroup group)
{
    const std::uint32_t known = group_table.at(self);
    const auto are = [&](OTF2_GroupType first, OTF2_GroupType second) {
        return known < groups.size() && groups[known].paradigm == group.paradigm && groups[known].type == first &&
               group.type == second;
    };
    const bool list_first = are(OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_GROUP_TYPE_COMM_GROUP);
    if (!list_first && !are(OTF2_GROUP_TYPE_COMM_GROUP, OTF2_GROUP_TYPE_COMM_LOCATIONS))
        return add(group_table, self, groups, std::move(group));
    if (list_first) std::swap(groups[known], group);
    const bool is_there = std::ranges::find(groups, group) != groups.end();
    if (!is_there) groups.push_back(std::move(group));  // lists of locations are identified by their paradigm
    ++repeated_alike;
}

Definitions resolve(StoredDefinitions stored)
{
    return Resolver{stored}.resolve();
}

}  // namespace otf2
