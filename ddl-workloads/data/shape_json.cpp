// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/shape_json.hpp"

#include "ddl-workloads/data/records.hpp"

#include <nlohmann/json.hpp>

namespace ddl {

nlohmann::ordered_json to_json(const SampleShape& shape)
{
    nlohmann::ordered_json json;
    switch (shape.kind) {
        case SampleShape::Kind::image:
            json["kind"] = "image";
            json["channels"] = shape.channels;
            json["height"] = shape.height;
            json["width"] = shape.width;
            json["classes"] = shape.classes;
            break;
        case SampleShape::Kind::text:
            json["kind"] = "text";
            json["length"] = shape.length;
            break;
        case SampleShape::Kind::clicks:
            json["kind"] = "clicks";
            json["dense"] = shape.dense;
            json["categories"] = shape.categories;
            json["rows"] = shape.rows;
            break;
    }
    return json;
}

std::int64_t whole_number(const nlohmann::ordered_json& json)
{
    const bool too_large = json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX;
    if (!json.is_number_integer() || too_large) base::fail(json.dump(), " is not a valid integer");
    return json.get<std::int64_t>();
}

SampleShape shape_from_json(const nlohmann::ordered_json& json)
{
    const auto number = [&](const char* name) { return whole_number(json.at(name)); };
    const auto kind = json.at("kind").get<std::string>();
    SampleShape shape;
    if (kind == "text")
        shape = text_shape(number("length"));
    else if (kind == "clicks")
        shape = clicks_shape(number("dense"), number("categories"), number("rows"));
    else if (kind == "image")
        shape = {.channels = number("channels"),
                 .height = number("height"),
                 .width = number("width"),
                 .classes = number("classes")};
    else
        base::fail("samples of kind '", kind, "' are not known");
    return checked(shape);
}

}  // namespace ddl
