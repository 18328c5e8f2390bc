// SPDX-License-Identifier: Apache-2.0
// Attributes of the current event, valid only during the visit. Attributes are identified by index into
// Archive::attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

struct OTF2_AttributeList_struct;

namespace otf2 {

class EventAttributes {
 public:
    std::size_t size() const;
    // An integer (negative ones wrap); none if the event has no such attribute, or the attribute is not an integer.
    std::optional<std::uint64_t> number(std::uint32_t attribute) const;
    std::optional<double> real(std::uint32_t attribute) const;  // any numeric attribute
    std::optional<std::string_view> text(std::uint32_t attribute) const;
    // OTF2's id of the location to which the first attribute of type location refers.
    std::optional<std::uint64_t> location() const;

 private:
    friend class EventSource;
    friend class Spill;
    EventAttributes(const OTF2_AttributeList_struct* list, const struct Archive& archive,
                    const struct ReferenceTable& references)
        : list_{list}, archive_{archive}, references_{references}
    {
    }
    const OTF2_AttributeList_struct* list_;
    const Archive& archive_;
    const ReferenceTable& references_;
};

}  // namespace otf2
