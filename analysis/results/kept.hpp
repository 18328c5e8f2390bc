// SPDX-License-Identifier: Apache-2.0
// Values that sections of a report keep between reading and writing: one of each type, created at first use.
#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace analysis {

class Kept {
 public:
    template <class Value>
    Value& of()
    {
        std::any& value = values_[typeid(Value)];
        if (!value.has_value()) value = Value{};
        return std::any_cast<Value&>(value);
    }

    // Returns an empty value if none was kept.
    template <class Value>
    const Value& of() const
    {
        static const Value none{};
        const auto found = values_.find(typeid(Value));
        return found == values_.end() ? none : std::any_cast<const Value&>(found->second);
    }

 private:
    std::map<std::type_index, std::any> values_;
};

}  // namespace analysis
