// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/convert/write_chrome.hpp"

#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "trace-tools/convert/flows.hpp"
#include "trace-tools/convert/markers.hpp"
#include "trace-tools/otf2/read/fan_out.hpp"
#include "trace-tools/otf2/read/soundness.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

namespace convert {

namespace {

// Names in an archive may be invalid UTF-8, which is replaced.
std::string quoted(const std::string& text)
{
    return base::json_text(nlohmann::json(text), base::one_line);
}

class ChromeWriter : public otf2::Visitor {
 public:
    ChromeWriter(const otf2::Archive& archive, const std::filesystem::path& file)
        : archive_{archive},
          path_{file},
          file_{std::fopen(file.c_str(), "wxe"), &std::fclose},
          flows_{archive, [this](const ArrowEnd& end) { arrow(end); }},
          correlation_{archive.find_attribute(base::attribute::correlation)}
    {
        base::check_errno(file_ ? 0 : -1, "write ", path_.string());
        put("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n");
        for (const otf2::Region& region : archive.regions) regions_.push_back(quoted(region.name));
        for (const otf2::Location& location : archive.locations) ++locations_of_[location.process];
        for (std::uint32_t i = 0; i < archive.locations.size(); ++i) name(i);
    }

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
    {
        event("{\"ph\": \"B\", \"name\": " + regions_[region] + where(at) + "}");
        if (!correlation_) return;
        if (const auto number = attributes.number(*correlation_)) flows_.launch(at, static_cast<std::int64_t>(*number));
    }
    void leave(const otf2::At& at, std::uint32_t, const otf2::EventAttributes&) override
    {
        event("{\"ph\": \"E\"" + where(at) + "}");
    }
    void metric(const otf2::At& at, std::uint32_t metric, const otf2::MetricValue& value) override
    {
        const double number = value.as_double() * archive_.metrics[metric].scale;
        if (!std::isfinite(number)) return;  // JSON cannot represent it
        event("{\"ph\": \"C\", \"name\": " + counter(at.location, metric) + where(at) +
              ", \"args\": {\"value\": " + nlohmann::json(number).dump() + "}}");
    }

    void send(const otf2::At& at, const otf2::MessageRecord& message) override { flows_.send(at, message); }
    void receive_request(const otf2::At& at, std::uint64_t request) override { flows_.receive_request(at, request); }
    void receive(const otf2::At& at, const otf2::MessageRecord& message) override { flows_.receive(at, message); }
    void collective_begin(const otf2::At& at) override { flows_.collective_begin(at); }
    void collective_end(const otf2::At& at, const otf2::CollectiveRecord& record) override
    {
        flows_.collective(at, record);
    }
    void collective_request(const otf2::At& at, std::uint64_t request) override
    {
        flows_.collective_request(at, request);
    }
    void collective_complete(const otf2::At& at, const otf2::CollectiveRecord& record) override
    {
        flows_.collective(at, record);
    }

    void finish()
    {
        flows_.finish();
        put("\n]}\n");
        base::check_errno(std::fclose(file_.release()), "write ", path_.string());
    }

    // Writes an instant event with the marker's text and length; its scope is global unless the marker has a location.
    void marker(const Marker& one)
    {
        const otf2::At at{.location = one.location == otf2::nowhere ? 0 : one.location, .time_ns = one.begin_ns};
        event(base::join("{\"ph\": \"i\", \"cat\": \"marker\", \"name\": ", quoted(one.category), ", \"s\": \"",
                         one.location == otf2::nowhere ? "g" : "t", "\"", where(at),
                         ", \"args\": {\"text\": ", quoted(one.text), ", \"length_ns\": ", one.length_ns, "}}"));
    }

 private:
    // Counter names are unique within a process, so with several locations the location's name is appended.
    std::string counter(std::uint32_t location, std::uint32_t metric) const
    {
        const otf2::Location& one = archive_.locations[location];
        const std::string& name = archive_.metrics[metric].name;
        return quoted(locations_of_.at(one.process) > 1 ? name + " (" + one.name + ")" : name);
    }

    // The head binds to the enclosing slice ("bp": "e"), as tails do by default.
    void arrow(const ArrowEnd& end)
    {
        constexpr const char* names[] = {"message", "collective", "launch"};
        const char* const name = names[static_cast<std::size_t>(end.kind)];
        event(base::join("{\"ph\": \"", end.tail ? "s" : "f", "\", \"cat\": \"", name, "\", \"name\": \"", name,
                         "\", \"id\": ", end.id, end.tail ? "" : ", \"bp\": \"e\"", where(end.at), "}"));
    }

    // Perfetto treats process 0 as idle, so numbers begin at 1.
    std::string place(std::uint32_t location) const
    {
        const std::uint32_t process = archive_.locations[location].process;
        return base::join(", \"pid\": ", process == otf2::nowhere ? 1 : process + 2, ", \"tid\": ", location + 1);
    }

    // Time stamp in microseconds, with process and thread.
    std::string where(const otf2::At& at) const
    {
        const std::int64_t ns = at.time_ns - archive_.clock.begin_ns;
        const std::int64_t size = ns < 0 ? -ns : ns;
        char text[32];
        std::snprintf(text, sizeof text, "%s%lld.%03lld", ns < 0 ? "-" : "", static_cast<long long>(size / 1000),
                      static_cast<long long>(size % 1000));
        return place(at.location) + ", \"ts\": " + text;
    }

    void name(std::uint32_t location)
    {
        const otf2::Location& one = archive_.locations[location];
        const std::string process =
            one.process == otf2::nowhere ? "(no process)" : archive_.processes[one.process].name;
        for (const auto& [what, text] : {std::pair{"process_name", process}, std::pair{"thread_name", one.name}})
            event(base::join("{\"ph\": \"M\", \"name\": \"", what, "\"", place(location),
                             ", \"args\": {\"name\": ", quoted(text), "}}"));
    }

    void event(const std::string& text)
    {
        put((first_ ? "" : ",\n") + text);
        first_ = false;
    }

    void put(const std::string& text)
    {
        base::check_errno(std::fputs(text.c_str(), file_.get()), "write ", path_.string());
    }

    const otf2::Archive& archive_;
    std::filesystem::path path_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
    std::vector<std::string> regions_;                   // quoted
    std::map<std::uint32_t, std::size_t> locations_of_;  // number of locations by process
    Flows flows_;
    std::optional<std::uint32_t> correlation_;
    bool first_ = true;
};

}  // namespace

void write_chrome(otf2::Reader& reader, const std::filesystem::path& file)
{
    ChromeWriter writer{reader.archive(), file};
    otf2::Soundness soundness{reader.archive()};
    otf2::FanOut both{&soundness, &writer};
    reader.read_by_location(both);
    otf2::refuse_unsound(reader, soundness);
    if (!reader.archive().locations.empty())
        for (const Marker& marker : read_markers(reader.anchor(), reader.archive())) writer.marker(marker);
    writer.finish();
}

}  // namespace convert
