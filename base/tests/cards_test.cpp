// SPDX-License-Identifier: Apache-2.0
// Plug-ins in the form that users write, and checks of their settings.
#include "base/cli/cards.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

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
const StirCard chase{"memory.chase", "loads", {{"rate", "0", "bytes per second"}, {"bytes", "1GiB", "per array"}}};
const StirCard quiet{"quiet", "nothing", {}};
const Registry<StirCard> registry{"stressor", "noisegen", {&memory, &chase, &quiet}};

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
    list(out, {registry.catalogue()}, false);
    CHECK(out.str() ==
          "stressors:\n"
          "  memory.stream       STREAM triad\n"
          "      rate=0  bytes per second\n"
          "      bytes=256MiB  per array\n"
          "  memory.chase        loads\n"
          "      bytes=1GiB  per array\n"
          "      rate  as of memory.stream\n"
          "  quiet               nothing\n");
}

TEST_CASE("as JSON the list has every option of every plug-in")
{
    std::ostringstream out;
    list(out, {registry.catalogue()}, true);
    const auto json = nlohmann::json::parse(out.str());
    CHECK(json.at("stressors").size() == 3);
    CHECK(json["stressors"][1]["options"][0] ==
          nlohmann::json{{"name", "rate"}, {"default", "0"}, {"help", "bytes per second"}});
    CHECK(json["stressors"][2]["options"].empty());
}
