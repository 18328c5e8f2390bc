// Plug-ins as users name them, and their checked settings.
#include "base/cli/cards.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace base;

namespace {

struct StirCard {
    std::string name;
    std::string summary;
    std::vector<OptionCard> options;
};

const StirCard memory{
    "memory.stream", "STREAM triad", {{"rate", "0", "bytes per second"}, {"bytes", "256MiB", "per array"}}};
const StirCard quiet{"quiet", "nothing", {}};
const Registry<StirCard> registry{"stressor", "noisegen", {&memory, &quiet}};

template <class Call>
std::string complaint(Call call)
{
    try {
        call();
    } catch (const UsageError& error) {
        return error.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("a plug-in is a label a name and options")
{
    const PlugInText text = parse_plug_in(" mem=memory.stream[rate=4GiB/s, bytes=64MiB] ");
    CHECK(text.label == "mem");
    CHECK(text.name == "memory.stream");
    CHECK(text.options.at("rate") == "4GiB/s");
    CHECK(text.options.at("bytes") == "64MiB");
    CHECK(parse_plug_in("quiet").options.empty());
}

TEST_CASE("malformed plug-ins are refused")
{
    for (const char* text : {"", "=quiet", "memory.stream[rate=1", "memory.stream[rate]", "memory.stream[a=1,a=2]",
                             "a b", "memory.stream]", "x[[y=1]]", "memory.stream[rate=1]x"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_plug_in(text), UsageError);
    }
}

TEST_CASE("an unknown plug-in gets the right one back")
{
    CHECK(complaint([] { registry.find("memory.strem"); }) ==
          "no stressor 'memory.strem'; did you mean memory.stream? (noisegen --list shows all)");
}

TEST_CASE("settings hold defaults and refuse options that are not on the card")
{
    const Settings settings = registry.settings(memory, {{"bytes", "1GiB"}});
    CHECK(settings.get<Bytes>("bytes").count == 1 << 30);
    CHECK(settings.text("rate") == "0");
    CHECK(settings.given("bytes"));
    CHECK_FALSE(settings.given("rate"));
    CHECK(complaint([] {
              registry.settings(memory, {{"size", "1GiB"}});
          }) == "memory.stream has no option 'size'; it has rate, bytes");
    CHECK(complaint([&] {
              registry.settings(memory, {{"bytes", "many"}}).get<Bytes>("bytes");
          }) == "memory.stream[bytes]: 'many' is not a number with a unit, such as 64MiB");
}

TEST_CASE("the list shows every plug-in with its options")
{
    std::ostringstream out;
    registry.list(out);
    CHECK(out.str().find("memory.stream       STREAM triad\n      rate=0  bytes per second") != std::string::npos);
    CHECK(out.str().find("quiet") != std::string::npos);
}
