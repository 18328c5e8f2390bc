// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/merge/raw_definitions.hpp"

#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <type_traits>

// Needed for callsites of old archives, which must still be copied.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace merge {

namespace {

using GlobalDefinitionCallbacks = otf2::Handle<OTF2_GlobalDefReaderCallbacks, OTF2_GlobalDefReaderCallbacks_Delete>;

OTF2_CallbackCode add(void* user, Row row)
{
    return otf2::with_state<RawDefinitions>(user, [&](RawDefinitions& raw) {
        const Form& made = form(row.kind);
        if (made.numbered) {
            auto& table = raw.rows_of[static_cast<std::size_t>(made.cells.front())];
            if (!table.try_emplace(row.cells.front(), raw.rows.size()).second) return;  // the first definition is kept
        }
        raw.rows.push_back(std::move(row));
    });
}

template <class Number>
void take(Row& row, Number number)
{
    row.cells.push_back(static_cast<std::uint64_t>(number));
}
void take(Row& row, OTF2_AttributeValue value)
{
    row.cells.push_back(value.uint64);  // has the size of the other members of the union
}
// The list's length is the preceding argument.
template <class Item>
void take(Row& row, const Item* items)
{
    row.list.assign(items, items + row.cells.back());
    row.cells.pop_back();
}

template <class Argument>
Argument cell_as(std::uint64_t cell)
{
    if constexpr (std::is_same_v<Argument, OTF2_AttributeValue>) {
        OTF2_AttributeValue value{};
        value.uint64 = cell;
        return value;
    } else {
        return static_cast<Argument>(cell);
    }
}

// The call that writes a definition has the arguments of the callback that reads it: numbers, and at most one list,
// given as length and items.
template <auto write_one>
struct Definition;
template <class... Arguments, OTF2_ErrorCode (*write_one)(OTF2_GlobalDefWriter*, Arguments...)>
struct Definition<write_one> {
    template <Kind kind>
    static OTF2_CallbackCode read(void* user, Arguments... arguments)
    {
        Row row{.kind = kind};
        (take(row, arguments), ...);
        return add(user, std::move(row));
    }

    static OTF2_ErrorCode write(OTF2_GlobalDefWriter* writer, const Row& row)
    {
        std::vector<Item> items;
        for (const std::uint64_t item : row.list) items.push_back(static_cast<Item>(item));
        return write_from(writer, row, items.data(), std::index_sequence_for<Arguments...>{});
    }

 private:
    static constexpr std::size_t list_at()
    {
        std::size_t at = 0;
        std::size_t found = sizeof...(Arguments) + 1;
        ((std::is_pointer_v<Arguments> ? found = at++ : at++), ...);
        return found;
    }
    using Item = std::remove_cvref_t<std::tuple_element_t<
        0, decltype(std::tuple_cat(std::conditional_t<std::is_pointer_v<Arguments>,
                                                      std::tuple<std::remove_pointer_t<Arguments>>, std::tuple<>>{}...,
                                   std::tuple<char>{}))>>;

    template <std::size_t at, class Argument>
    static Argument argument(const Row& row, const Item* items)
    {
        if constexpr (std::is_pointer_v<Argument>)
            return items;
        else if constexpr (at + 1 == list_at())
            return static_cast<Argument>(row.list.size());
        else
            return cell_as<Argument>(row.cells[at < list_at() ? at : at - 2]);
    }

    template <std::size_t... at>
    static OTF2_ErrorCode write_from(OTF2_GlobalDefWriter* writer, const Row& row, const Item* items,
                                     std::index_sequence<at...>)
    {
        return write_one(writer, argument<at, Arguments>(row, items)...);
    }
};

OTF2_CallbackCode read_string(void* user, OTF2_StringRef self, const char* text)
{
    return add(user, {.kind = Kind::string, .cells = {self}, .text = text != nullptr ? text : ""});
}
OTF2_ErrorCode write_string(OTF2_GlobalDefWriter* writer, const Row& row)
{
    return OTF2_GlobalDefWriter_WriteString(writer, static_cast<OTF2_StringRef>(row.cells[0]), row.text.c_str());
}

// The list holds property, type and value of each property in turn.
OTF2_CallbackCode read_io_paradigm(void* user, OTF2_IoParadigmRef self, OTF2_StringRef identification,
                                   OTF2_StringRef name, OTF2_IoParadigmClass paradigm_class, OTF2_IoParadigmFlag flags,
                                   std::uint8_t count, const OTF2_IoParadigmProperty* properties,
                                   const OTF2_Type* types, const OTF2_AttributeValue* values)
{
    Row row{.kind = Kind::io_paradigm, .cells = {self, identification, name, paradigm_class, flags}};
    for (std::size_t i = 0; i < count; ++i)
        row.list.insert(row.list.end(), {properties[i], types[i], values[i].uint64});
    return add(user, std::move(row));
}
OTF2_ErrorCode write_io_paradigm(OTF2_GlobalDefWriter* writer, const Row& row)
{
    std::vector<OTF2_IoParadigmProperty> properties;
    std::vector<OTF2_Type> types;
    std::vector<OTF2_AttributeValue> values;
    for (std::size_t i = 0; i + 2 < row.list.size(); i += 3) {
        properties.push_back(static_cast<OTF2_IoParadigmProperty>(row.list[i]));
        types.push_back(static_cast<OTF2_Type>(row.list[i + 1]));
        values.push_back(cell_as<OTF2_AttributeValue>(row.list[i + 2]));
    }
    return OTF2_GlobalDefWriter_WriteIoParadigm(
        writer, static_cast<OTF2_IoParadigmRef>(row.cells[0]), static_cast<OTF2_StringRef>(row.cells[1]),
        static_cast<OTF2_StringRef>(row.cells[2]), static_cast<OTF2_IoParadigmClass>(row.cells[3]),
        static_cast<OTF2_IoParadigmFlag>(row.cells[4]), static_cast<std::uint8_t>(values.size()), properties.data(),
        types.data(), values.data());
}

OTF2_CallbackCode read_clock(void* user, std::uint64_t ticks_per_s, std::uint64_t begin, std::uint64_t length,
                             std::uint64_t realtime)
{
    return otf2::with_state<RawDefinitions>(user, [&](RawDefinitions& raw) {
        raw.clock = {ticks_per_s, begin, length, realtime};
    });
}

OTF2_CallbackCode count_unknown(void* user)
{
    return otf2::with_state<RawDefinitions>(user, [](RawDefinitions& raw) { ++raw.unknown; });
}

#define LISTEN(Name, callback) \
    [](OTF2_GlobalDefReaderCallbacks* set) { OTF2_GlobalDefReaderCallbacks_Set##Name##Callback(set, callback); }
#define FORM(kind, Name, numbered, shared, list, ...)        \
    forms[static_cast<std::size_t>(Kind::kind)] = {          \
        {__VA_ARGS__},                                       \
        list,                                                \
        numbered,                                            \
        shared,                                              \
        Definition<OTF2_GlobalDefWriter_Write##Name>::write, \
        LISTEN(Name, Definition<OTF2_GlobalDefWriter_Write##Name>::read<Kind::kind>)};

// Definitions that their content identifies are shared between archives; others, such as locations, communicators and
// handles, may be equal by chance.
std::array<Form, kinds> make_forms()
{
    using enum Space;
    constexpr bool own = true;   // the definition has its own number
    constexpr bool of = false;   // the definition adds to another, numbered one
    constexpr bool same = true;  // equal definitions of two archives are the same
    constexpr bool another = false;
    std::array<Form, kinds> forms;
    forms[static_cast<std::size_t>(Kind::string)] = {{string}, number,       own,
                                                     same,     write_string, LISTEN(String, read_string)};
    forms[static_cast<std::size_t>(Kind::io_paradigm)] = {
        {io_paradigm, string, string, number, number}, value, own, same, write_io_paradigm,
        LISTEN(IoParadigm, read_io_paradigm)};
    FORM(paradigm, Paradigm, of, same, number, number, string, number)
    FORM(paradigm_property, ParadigmProperty, of, same, number, number, number, number, value)
    FORM(attribute, Attribute, own, same, number, attribute, string, string, number)
    FORM(node, SystemTreeNode, own, same, number, node, string, string, node)
    FORM(node_property, SystemTreeNodeProperty, of, same, number, node, string, number, value)
    FORM(node_domain, SystemTreeNodeDomain, of, same, number, node, number)
    FORM(location_group, LocationGroup, own, another, number, location_group, string, number, node, location_group)
    FORM(location_group_property, LocationGroupProperty, of, same, number, location_group, string, number, value)
    FORM(location, Location, own, another, number, location, string, number, number, location_group)
    FORM(location_property, LocationProperty, of, same, number, location, string, number, value)
    FORM(region, Region, own, same, number, region, string, string, string, number, number, number, string, number,
         number)
    FORM(callsite, Callsite, own, same, number, callsite, string, number, region, region)
    FORM(source_code_location, SourceCodeLocation, own, same, number, source_code_location, string, number)
    FORM(calling_context, CallingContext, own, same, number, calling_context, region, source_code_location,
         calling_context)
    FORM(calling_context_property, CallingContextProperty, of, same, number, calling_context, string, number, value)
    FORM(interrupt_generator, InterruptGenerator, own, same, number, interrupt_generator, string, number, number,
         number, number)
    FORM(callpath, Callpath, own, same, number, callpath, callpath, region)
    FORM(parameter, Parameter, own, same, number, parameter, string, number)
    FORM(callpath_parameter, CallpathParameter, of, same, number, callpath, parameter, number, value)
    FORM(group, Group, own, same, number, group, string, number, number, number)
    FORM(metric_member, MetricMember, own, same, number, metric_member, string, string, number, number, number, number,
         number, string)
    FORM(metric_class, MetricClass, own, same, metric_member, metric, number, number)
    FORM(metric_instance, MetricInstance, own, another, number, metric, metric, location, number, scope)
    FORM(metric_class_recorder, MetricClassRecorder, of, same, number, metric, location)
    FORM(communicator, Comm, own, another, number, communicator, string, group, communicator, number)
    FORM(inter_communicator, InterComm, own, another, number, communicator, string, group, group, communicator, number)
    FORM(rma_window, RmaWin, own, another, number, rma_window, string, communicator, number)
    FORM(dimension, CartDimension, own, same, number, dimension, string, number, number)
    FORM(topology, CartTopology, own, another, dimension, topology, string, communicator)
    FORM(coordinate, CartCoordinate, of, same, number, topology, number)
    FORM(io_regular_file, IoRegularFile, own, same, number, io_file, string, node)
    FORM(io_directory, IoDirectory, own, same, number, io_file, string, node)
    FORM(io_file_property, IoFileProperty, of, same, number, io_file, string, number, value)
    FORM(io_handle, IoHandle, own, another, number, io_handle, string, io_file, io_paradigm, number, communicator,
         io_handle)
    FORM(io_handle_state, IoPreCreatedHandleState, of, same, number, io_handle, number, number)
    return forms;
}

#undef FORM

}  // namespace

std::uint64_t undefined(Space space)
{
    if (space == Space::location) return OTF2_UNDEFINED_LOCATION;
    if (space == Space::io_paradigm) return OTF2_UNDEFINED_IO_PARADIGM;
    return OTF2_UNDEFINED_UINT32;
}

const Form& form(Kind kind)
{
    static const std::array<Form, kinds> forms = make_forms();
    return forms[static_cast<std::size_t>(kind)];
}

const Row* RawDefinitions::find(Space space, std::uint64_t number) const
{
    const auto& table = rows_of[static_cast<std::size_t>(space)];
    const auto found = table.find(number);
    return found == table.end() ? nullptr : &rows[found->second];
}

RawDefinitions read_raw_definitions(OTF2_Reader* reader)
{
    OTF2_GlobalDefReader* definitions = otf2::check(OTF2_Reader_GetGlobalDefReader(reader), "read its definitions");
    const GlobalDefinitionCallbacks callbacks{otf2::check(OTF2_GlobalDefReaderCallbacks_New(), "read definitions")};
    for (std::size_t kind = 0; kind < kinds; ++kind) form(static_cast<Kind>(kind)).listen(callbacks.get());
    LISTEN(ClockProperties, read_clock)(callbacks.get());
    LISTEN(Unknown, count_unknown)(callbacks.get());
    RawDefinitions raw;
    otf2::check(OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks.get(), &raw),
                "read its definitions");
    std::uint64_t expected = 0;
    otf2::check(OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &expected), "count its definitions");
    constexpr std::uint64_t at_once = 100'000;
    std::uint64_t read = 0;
    for (std::uint64_t some = at_once; some == at_once; read += some) {
        otf2::check(OTF2_Reader_ReadGlobalDefinitions(reader, definitions, at_once, &some), "read its definitions");
        otf2::getting_on();
    }
    if (read < expected) base::fail("cut off: only ", read, " of ", expected, " definitions are there");
    otf2::check(OTF2_Reader_CloseGlobalDefReader(reader, definitions), "read its definitions");
    return raw;
}

#undef LISTEN

}  // namespace merge
