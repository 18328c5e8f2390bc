// SPDX-License-Identifier: Apache-2.0
// Command-line options over Boost.Program_options: typed values with units, a config file, help with an example, and
// suggestions for misspelt words. The man page and the bash completion are written from the same texts.
#pragma once

#include "base/cli/manual.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// Forward declaration: Boost's headers would cost seconds in every file that includes this one.
namespace boost::program_options {
class value_semantic;
}

namespace base {

class Options {
 public:
    Options(std::string program, std::string summary);
    ~Options();
    Options(Options&&) noexcept;

    // Sets the heading for the options added after this call.
    void group(std::string title) { group_ = std::move(title); }

    // Adds an option whose value goes to `variable`; its present value is the default that --help shows. T is any type
    // of parse<T>(). `value` is the placeholder in the help; DIR and FILE are completed as paths. A name like "out,o"
    // adds the letter o.
    template <class T>
    void add(const std::string& name, T& variable, const std::string& help, const std::string& value = "VALUE")
    {
        add_text({.group = group_, .name = name, .value = value, .help = help, .default_text = format(variable)},
                 [&variable](const std::string& text) { variable = base::parse<T>(text); });
    }

    // Adds an option that may be given several times; each value is appended.
    void add(const std::string& name, std::vector<std::string>& values, const std::string& help,
             const std::string& value = "VALUE");

    // Adds an option without a value, such as --dry-run. Without a variable: see is_on().
    void add_switch(const std::string& name, bool& variable, const std::string& help);
    void add_switch(const std::string& name, const std::string& help);

    // Adds an option that accepts one of `choices`; the error for another word lists them.
    void add_choice(const std::string& name, std::string& variable, std::vector<std::string> choices,
                    const std::string& help);

    // Add options without a variable: see text() and texts().
    void add_word(const std::string& name, const std::string& default_text, const std::string& help,
                  const std::string& value);
    void add_words(const std::string& name, const std::string& help, const std::string& value);
    void add_choice(const std::string& name, const std::string& default_text, std::vector<std::string> choices,
                    const std::string& help);

    // Adds a function for check(): it checks values, and completes what they mean together.
    void then(std::function<void()> check) { checks_.push_back(std::move(check)); }

    // Adds one required word without dashes.
    void add_positional(const std::string& name, std::string& value, const std::string& help);

    // Adds words without dashes, in order: at least `least`, at most `most`.
    static constexpr std::size_t any_number = SIZE_MAX;
    void add_positional(const std::string& name, std::vector<std::string>& values, const std::string& help,
                        std::size_t least = 1, std::size_t most = any_number);

    // Adds words without dashes that select from `parts` (pairs of a name and its part). Parts that were not named are
    // erased from `parts`; if no word is given, all stay.
    template <class Part>
    void add_parts(const std::string& name, std::vector<std::pair<std::string, Part>>& parts)
    {
        std::vector<std::string> names;
        for (const auto& part : parts) names.push_back(part.first);
        add_positional_choice(name, names, [&parts](const std::vector<std::string>& named) {
            std::erase_if(parts, [&](const auto& part) { return std::ranges::find(named, part.first) == named.end(); });
        });
    }

    // Add text to the end of --help: an example, a section, and the last lines.
    void example(std::string text) { manual_.examples.push_back(std::move(text)); }
    void section(Section section) { manual_.sections.push_back(std::move(section)); }
    void epilogue(std::string text) { manual_.epilogue = std::move(text); }

    // Replaces the synopsis that follows from the positional words: "[options] -- PROGRAM [ARGUMENT...]".
    void synopsis(std::string text) { manual_.synopsis = std::move(text); }

    // Texts that only the man page has.
    void description(std::string text) { manual_.description = std::move(text); }
    void see_also(std::string text) { manual_.see_also = std::move(text); }

    // Adds a command with the options in its manual: "git commit" for "git".
    void command(Manual command) { manual_.commands.push_back(std::move(command)); }

    // States that the values of this option, or positional word, are plug-ins, so that completion offers them.
    void plug_ins(const std::string& option, PlugInWords words) { manual_.plug_ins[option] = std::move(words); }

    // Returns false if --help, --version, --man or --completion was given and its text has been printed. Throws
    // UsageError. `--config FILE.ini` supplies options that the command line does not give.
    bool parse(int argc, char** argv);

    // Was the option given, on the command line or in the config file?
    bool given(const std::string& name) const;

    // The value of an option as given, or its default; all values of one that may be given several times; that of a
    // switch.
    const std::string& text(const std::string& name) const;
    std::vector<std::string> texts(const std::string& name) const;
    bool is_on(const std::string& name) const;

    // Call after parse(): calls the functions of then() in order. Throws what they throw.
    void check() const
    {
        for (const std::function<void()>& one : checks_) one();
    }

    std::string help() const;
    const Manual& manual() const { return manual_; }

 private:
    using TakeWords = std::function<void(const std::vector<std::string>&)>;
    void add_positional_choice(const std::string& name, const std::vector<std::string>& choices, TakeWords take);
    void describe_positional(const std::string& name, const boost::program_options::value_semantic* value,
                             const std::string& help, std::size_t least, std::size_t most);
    void add_choice(const std::string& name, const std::string& default_text, std::vector<std::string> choices,
                    const std::string& help, std::function<void(const std::string&)> take);
    void add_text(OptionText text, std::function<void(const std::string&)> take);
    void describe(OptionText text, const boost::program_options::value_semantic* value);
    bool print_what_is_asked_for();
    std::vector<std::string> names() const;

    Manual manual_;
    std::vector<std::function<void()>> checks_;
    std::string group_;
    std::string positional_help_;
    std::size_t positional_least_ = 0;
    std::size_t positional_most_ = any_number;
    struct Boost;
    std::unique_ptr<Boost> boost_;
};

}  // namespace base
