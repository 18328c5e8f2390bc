// SPDX-License-Identifier: Apache-2.0
// Fuzzing of texts that users type: each is accepted and reads the same after printing, or is refused with one
// printable line.
#include "base/words.hpp"

#include "base/random.hpp"
#include "noisegen/resources/placement.hpp"
#include "noisegen/schedule/parser.hpp"
#include "noisegen/schedule/slot_table.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

namespace {

using base::Random;

using testing::program;

std::size_t draw(Random& random, std::size_t below)
{
    return static_cast<std::size_t>(base::draw_below(random, below));
}

template <class T>
const T& one_of(Random& random, const std::vector<T>& all)
{
    return all[draw(random, all.size())];
}

// Quantities as users type them, valid and invalid.
const std::vector<std::string> quantities{"2s",   "1.5s", "500ms", "1h",    "4GiB/s",  "2000/s", "64KiB",
                                          "1MiB", "30%",  "100%",  "max",   "auto",    "yes",    "no",
                                          "1",    "8",    "47111", "triad", "poisson", "fixed",  "/tmp"};
const std::vector<std::string> bad_quantities{"",
                                              " ",
                                              "0",
                                              "-1",
                                              "0s",
                                              "1ns",
                                              "4GiB/h",
                                              "5 parsecs",
                                              "1e308s",
                                              "1e999",
                                              "nan",
                                              "inf%",
                                              "-0%",
                                              "99999999999999999999",
                                              "9223372036854775807B",
                                              "9223372036854775808",
                                              "18446744073709551616/s",
                                              "0x10",
                                              "1,5s",
                                              "²s",
                                              "١s",
                                              "1\u00a0s",
                                              "\u202e1s",
                                              "\x1b[31mred",
                                              "\x07",
                                              "\xff\xfe",
                                              "\xc3(",
                                              "\xe2\x80\xa8",
                                              "1\n2",
                                              "a\tb",
                                              "'",
                                              "\"",
                                              "$(true)",
                                              "%n%s",
                                              "..",
                                              "/nowhere/at/all",
                                              "|",
                                              "1|2|",
                                              "=",
                                              "]",
                                              "[",
                                              "(",
                                              "))",
                                              ";;"};

std::string quantity(Random& random)
{
    return draw(random, 4) == 0 ? one_of(random, bad_quantities) : one_of(random, quantities);
}

// name[option=value,...] with a value for each option of the card that may be valid or not.
std::string stressor(Random& random, const noisegen::StressorCard& card)
{
    std::string options;
    for (const base::OptionCard& option : card.options) {
        if (draw(random, 3) != 0) continue;
        const std::string value = draw(random, 3) == 0 ? option.default_text : quantity(random);
        options += (options.empty() ? "" : ",") + option.name + "=" + value;
    }
    const std::string label = draw(random, 5) == 0 ? "label" + std::to_string(draw(random, 3)) + "=" : "";
    return label + card.name + (options.empty() ? "" : "[" + options + "]");
}

std::string stressor(Random& random)
{
    return stressor(random, *one_of(random, noisegen::stressors().cards()));
}

std::string stressors(Random& random, const std::string& between, const std::string& after)
{
    std::string text;
    for (std::size_t i = draw(random, 3) + 1; i > 0; --i) text += stressor(random) + after + (i > 1 ? between : "");
    return text;
}

std::string well_formed(Random& random)
{
    switch (draw(random, 6)) {
        case 0:
            return stressors(random, "; ", " " + one_of<std::string>(random, {"2s", "10ms", "1.5s"}));
        case 1:
            return "rotation(" + stressors(random, ", ", "") +
                   one_of<std::string>(random, {"", "; slot=auto", "; slot=50ms"}) + ")";
        case 2:
            return "factorial(" + stressors(random, ", ", "") + "; slot=100ms; quiet=2)";
        case 3:
            return "random(" + stressor(random) + "=25%, quiet=75%; slot=100ms)";
        case 4:
            return "ramp(" + stressor(random) + "; rate=0..16GiB/s; steps=4; hold=" + quantity(random) + ")";
        default:
            return one_of<std::string>(random, {"M2S2", "M2N2S2", "C0.5S1", "I1"});
    }
}

// Changes the text by typing errors, and worse.
std::string mutated(Random& random, std::string text)
{
    const std::vector<std::string> scraps{
        ";",  ",",    "=",    "[", "]",  "(",     ")",        "|", "..", "%", "/s", "999999999999",
        "\n", "\x1b", "\xff", "ü", "\t", "quiet", "rotation("};
    for (std::size_t times = draw(random, 3) + 1; times > 0 && !text.empty(); --times) {
        const std::size_t at = draw(random, text.size());
        switch (draw(random, 6)) {
            case 0:
                text.resize(at);
                break;
            case 1:
                text.insert(at, 1, text[at]);
                break;
            case 2:
                std::swap(text[at], text[text.size() - 1 - at]);
                break;
            case 3:
                text.erase(at, draw(random, 4) + 1);
                break;
            case 4:
                text.insert(at, one_of(random, scraps));
                break;
            default:
                text.insert(at, quantity(random));
                break;
        }
    }
    return text;
}

std::string table_of(const std::string& text)
{
    noisegen::Schedule schedule = noisegen::parse_schedule(text);
    if (schedule.needs_slot()) schedule.set_slot(std::chrono::seconds{1});
    std::ostringstream table;
    noisegen::print(table, schedule, noisegen::slot_table(schedule, 7, std::chrono::seconds{3}));
    return table.str();
}

enum class Answer { understood, refused };

// An exception other than UsageError fails the test.
template <class Read>
Answer answer(const std::string& text, Read read)
{
    CAPTURE(base::printable(text));
    try {
        const std::string once = read(text);
        CHECK(once == read(text));
        return Answer::understood;
    } catch (const base::UsageError& error) {
        const std::string reported = error.what();
        CHECK(reported != "");
        CHECK(reported == base::printable(reported));
    } catch (const std::exception& error) {
        FAIL_CHECK("another exception: ", error.what());
    }
    return Answer::refused;
}

}  // namespace

TEST_CASE("five hundred schedules are understood or refused in one line")
{
    Random random{20};
    std::size_t understood = 0;
    std::size_t refused = 0;
    for (int i = 0; i < 500; ++i) {
        const std::string text = i % 2 == 0 ? well_formed(random) : mutated(random, well_formed(random));
        ++(answer(text, table_of) == Answer::understood ? understood : refused);
    }
    // Both counts are positive: the generator makes valid and invalid texts.
    CHECK(understood > 50);
    CHECK(refused > 50);
}

TEST_CASE("every stressor with any values for its options is understood or refused in one line")
{
    Random random{21};
    const auto& cards = noisegen::stressors().cards();
    std::size_t understood = 0;
    std::size_t refused = 0;
    for (std::size_t i = 0; i < 500; ++i) {
        const std::string text = stressor(random, *cards[i % cards.size()]) + " 1s";
        ++(answer(text, table_of) == Answer::understood ? understood : refused);
    }
    CHECK(understood > 50);
    CHECK(refused > 50);
}

TEST_CASE("what is said of placement is understood or refused in one line")
{
    Random random{22};
    const std::vector<std::string> words{"0", "0-1", "1,3", "idle", "all", "any", "local", "2"};
    const noisegen::Machine machine{.cores = {{.cpus = {0, 2}, .index = 0, .numa_node = 0, .package = 0},
                                              {.cpus = {1, 3}, .index = 1, .numa_node = 1, .package = 1}},
                                    .allowed = {0, 1, 2, 3},
                                    .avoided = {0}};
    const auto word = [&] { return draw(random, 2) == 0 ? one_of(random, words) : mutated(random, quantity(random)); };
    std::size_t understood = 0;
    for (int i = 0; i < 500; ++i) {
        const noisegen::CpuRequest cpu_request{.cpus = word(),
                                               .count = "all",
                                               .numa = draw(random, 2) == 0 ? "any" : word(),
                                               .socket = one_of<std::string>(random, {"any", "same", "other"}),
                                               .smt = one_of<std::string>(random, {"yes", "no"}),
                                               .share = draw(random, 2) == 0};
        const auto read = [&](const std::string&) {
            return base::format_cpus(noisegen::candidates(cpu_request, machine));
        };
        if (answer(cpu_request.cpus + " " + cpu_request.numa, read) == Answer::understood) ++understood;
        if (i % 10 != 0) continue;  // these examine the machine, which is slow
        answer(word(), [](const std::string& text) { return base::format_cpus(noisegen::parse_avoid({text}).cpus); });
        answer(word(), [](const std::string& text) { return base::format_cpus(noisegen::parse_memory(text)); });
    }
    CHECK(understood > 20);
}

TEST_CASE("the program refuses nonsense with exit code 2 and one line")
{
    Random random{23};
    const std::vector<std::string> options{"--schedule",   "--duration", "--cpus",       "--avoid",      "--count",
                                           "--numa",       "--socket",   "--smt",        "--memory",     "--sched",
                                           "--seed",       "--max-disk", "--max-memory", "--on-overlap", "--config",
                                           "--completion", "--no-such"};
    const testing::Scratch scratch;
    std::size_t refused = 0;
    for (int i = 0; i < 60; ++i) {
        std::vector<std::string> words{program, "--dry-run"};
        const std::string option = one_of(random, options);
        if (option != "--schedule") words.insert(words.end(), {"--schedule", "C1S1"});
        words.push_back(option);
        const std::string value = option == "--schedule" ? mutated(random, well_formed(random)) : quantity(random);
        words.push_back(value);
        if (option == "--config") {
            words.back() = scratch / "noisegen.ini";
            std::ofstream{words.back()} << mutated(random, "seed = 1\n[cpus]\nmax-disk=" + value + "\n");
        }
        const testing::Outcome outcome = testing::run(words);
        CAPTURE(option);
        CAPTURE(base::printable(value));
        CAPTURE(outcome.err);
        if (outcome.status == 0) continue;
        ++refused;
        CHECK(outcome.status == 2);
        CHECK(outcome.out == "");
        REQUIRE(outcome.err.ends_with("\n"));
        const std::string line = outcome.err.substr(0, outcome.err.size() - 1);
        CHECK(line.starts_with("noisegen: "));
        CHECK(line == base::printable(line));
    }
    CHECK(refused > 30);
}
