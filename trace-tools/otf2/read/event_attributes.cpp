// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/read/event_attributes.hpp"

#include "trace-tools/otf2/archive.hpp"
#include "trace-tools/otf2/read/references.hpp"

#include <otf2/otf2.h>

namespace otf2 {

namespace {

std::optional<OTF2_AttributeValue> find(const OTF2_AttributeList* list, const Archive& archive, std::uint32_t attribute,
                                        OTF2_Type& type)
{
    if (list == nullptr || attribute >= archive.attributes.size()) return {};
    const OTF2_AttributeRef id = archive.attributes[attribute].id;
    OTF2_AttributeValue value{};
    if (!OTF2_AttributeList_TestAttributeByID(list, id) ||
        OTF2_AttributeList_GetAttributeByID(list, id, &type, &value) != OTF2_SUCCESS)
        return {};
    return value;
}

}  // namespace

std::size_t EventAttributes::size() const
{
    return list_ == nullptr ? 0 : OTF2_AttributeList_GetNumberOfElements(list_);
}

std::optional<std::uint64_t> EventAttributes::number(std::uint32_t attribute) const
{
    OTF2_Type type = OTF2_TYPE_NONE;
    const auto value = find(list_, archive_, attribute, type);
    if (!value) return {};
    switch (type) {
        case OTF2_TYPE_UINT8:
            return value->uint8;
        case OTF2_TYPE_UINT16:
            return value->uint16;
        case OTF2_TYPE_UINT32:
            return value->uint32;
        case OTF2_TYPE_UINT64:
            return value->uint64;
        case OTF2_TYPE_INT8:
            return static_cast<std::uint64_t>(value->int8);
        case OTF2_TYPE_INT16:
            return static_cast<std::uint64_t>(value->int16);
        case OTF2_TYPE_INT32:
            return static_cast<std::uint64_t>(value->int32);
        case OTF2_TYPE_INT64:
            return static_cast<std::uint64_t>(value->int64);
        default:
            return {};
    }
}

std::optional<double> EventAttributes::real(std::uint32_t attribute) const
{
    OTF2_Type type = OTF2_TYPE_NONE;
    const auto value = find(list_, archive_, attribute, type);
    if (!value) return {};
    switch (type) {
        case OTF2_TYPE_FLOAT:
            return value->float32;
        case OTF2_TYPE_DOUBLE:
            return value->float64;
        case OTF2_TYPE_INT8:
            return value->int8;
        case OTF2_TYPE_INT16:
            return value->int16;
        case OTF2_TYPE_INT32:
            return value->int32;
        case OTF2_TYPE_INT64:
            return static_cast<double>(value->int64);
        default:
            break;
    }
    const auto whole = number(attribute);
    return whole ? std::optional<double>{static_cast<double>(*whole)} : std::nullopt;
}

std::optional<std::string_view> EventAttributes::text(std::uint32_t attribute) const
{
    OTF2_Type type = OTF2_TYPE_NONE;
    const auto value = find(list_, archive_, attribute, type);
    if (!value || type != OTF2_TYPE_STRING) return {};
    const std::uint32_t index = references_.strings.at(value->stringRef);
    if (index == nowhere) return {};
    return references_.texts[index];
}

std::optional<std::uint64_t> EventAttributes::location() const
{
    for (std::uint32_t i = 0; i < size(); ++i) {
        OTF2_AttributeRef id = 0;
        OTF2_Type type = OTF2_TYPE_NONE;
        OTF2_AttributeValue value{};
        if (OTF2_AttributeList_GetAttributeByIndex(list_, i, &id, &type, &value) != OTF2_SUCCESS) return {};
        if (type == OTF2_TYPE_LOCATION) return value.locationRef;
    }
    return {};
}

}  // namespace otf2
