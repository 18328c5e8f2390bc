#include "trace-tools/convert/write_chrome.hpp"

#include "base/error.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <memory>

namespace convert {

namespace {

// Names in an archive need not be UTF-8.
std::string quoted(const std::string& text)
{
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class ChromeWriter : public otf2::Visitor {
 public:
    ChromeWriter(const otf2::Archive& archive, const std::filesystem::path& file)
        : archive_{archive}, path_{file}, file_{std::fopen(file.c_str(), "wxe"), &std::fclose}
    {
        base::check_errno(file_ ? 0 : -1, "write ", path_.string());
        put("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n");
        for (const otf2::Region& region : archive.regions) regions_.push_back(quoted(region.name));
        for (const otf2::Metric& metric : archive.metrics) metrics_.push_back(quoted(metric.name));
        for (std::uint32_t i = 0; i < archive.locations.size(); ++i) name(i);
    }

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        event("{\"ph\": \"B\", \"name\": " + regions_[region] + where(at) + "}");
    }
    void leave(const otf2::At& at, std::uint32_t, const otf2::EventAttributes&) override
    {
        event("{\"ph\": \"E\"" + where(at) + "}");
    }
    void metric(const otf2::At& at, std::uint32_t metric, const otf2::MetricValue& value) override
    {
        const double number = value.as_double() * archive_.metrics[metric].scale;
        if (!std::isfinite(number)) return;  // JSON has no word for it
        event("{\"ph\": \"C\", \"name\": " + metrics_[metric] + where(at) +
              ", \"args\": {\"value\": " + nlohmann::json(number).dump() + "}}");
    }

    void finish()
    {
        put("\n]}\n");
        base::check_errno(std::fclose(file_.release()), "write ", path_.string());
    }

 private:
    // Perfetto takes process 0 for the idle one.
    std::string place(std::uint32_t location) const
    {
        const std::uint32_t process = archive_.locations[location].process;
        return base::join(", \"pid\": ", process == otf2::nowhere ? 1 : process + 2, ", \"tid\": ", location + 1);
    }

    // Microseconds.
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
    std::vector<std::string> regions_;  // quoted
    std::vector<std::string> metrics_;
    bool first_ = true;
};

}  // namespace

void write_chrome(otf2::Reader& reader, const std::filesystem::path& file)
{
    ChromeWriter writer{reader.archive(), file};
    reader.read_by_location(writer);
    if (!reader.problems().empty()) base::fail(reader.anchor().string(), ": ", reader.problems().front());
    writer.finish();
}

}  // namespace convert
