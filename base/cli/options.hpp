// SPDX-License-Identifier: Apache-2.0
// Command-line options over Boost.Program_options: typed values with units, a config file, help with an example, and
// the right word for a wrong one. From the same words the program writes its man page and its bash completion.
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

// Its headers cost seconds in every file that includes them.
namespace boost::program_options {
class value_semantic;
}

namespace base {

class Options {
 public:
    Options(std::string program, std::string summary);
    ~Options();
    Options(Options&&) noexcept;

    // The heading of the options added from here on.
    void group(std::string title) { group_ = std::move(title); }

    // The option's value goes to `variable`, whose present value is the default shown by --help. T as in parse<T>().
    // `value` is what help calls it; DIR and FILE are completed as such. A name like "out,o" also has a letter.
    template <class T>
    void add(const std::string& name, T& variable, const std::string& help, const std::string& value = "VALUE")
    {
        add_text({.group = group_, .name = name, .value = value, .help = help, .default_text = format(variable)},
                 [&variable](const std::string& text) { variable = base::parse<T>(text); });
    }

    // May be given several times; each value is appended.
    void add(const std::string& name, std::vector<std::string>& values, const std::string& help,
             const std::string& value = "VALUE");

    // A word that is there or not: --dry-run.
    void add_switch(const std::string& name, bool& variable, const std::string& help);

    // One word out of a few; another is refused with the right ones.
    void add_choice(const std::string& name, std::string& variable, std::vector<std::string> choices,
                    const std::string& help);

    // One word without dashes, which must be there.
    void add_positional(const std::string& name, std::string& value, const std::string& help);

    // Words without dashes, in order; `least` of them must be there.
    static constexpr std::size_t any_number = SIZE_MAX;
    void add_positional(const std::string& name, std::vector<std::string>& values, const std::string& help,
                        std::size_t least = 1, std::size_t most = any_number);

    // Words without dashes that name parts, each a name and what it stands for: of `parts` those that were named are
    // left, or all if none was.
    template <class Part>
    void add_parts(const std::string& name, std::vector<std::pair<std::string, Part>>& parts)
    {
        std::vector<std::string> names;
        for (const auto& part : parts) names.push_back(part.first);
        add_positional_choice(name, names, [&parts](const std::vector<std::string>& named) {
            std::erase_if(parts, [&](const auto& part) {
                return std::find(named.begin(), named.end(), part.first) == named.end();
            });
        });
    }

    // A line or more for the end of --help.
    void example(std::string text) { manual_.examples.push_back(std::move(text)); }
    void section(Section section) { manual_.sections.push_back(std::move(section)); }
    void epilogue(std::string text) { manual_.epilogue = std::move(text); }

    // In the place of what follows from the positional: "[options] -- PROGRAM [ARGUMENT...]".
    void synopsis(std::string text) { manual_.synopsis = std::move(text); }

    // For the man page alone.
    void description(std::string text) { manual_.description = std::move(text); }
    void see_also(std::string text) { manual_.see_also = std::move(text); }

    // Another manual's worth of options, behind a word: "git commit" of "git".
    void command(Manual command) { manual_.commands.push_back(std::move(command)); }

    // The values of the option, or of the positional of this name, are plug-ins: completion knows them.
    void plug_ins(const std::string& option, PlugInWords words) { manual_.plug_ins[option] = std::move(words); }

    // False if --help, --version, --man or --completion was asked for and has been printed. Throws UsageError.
    // `--config FILE.ini` supplies what the command line does not.
    bool parse(int argc, char** argv);

    // Was the option given, on the command line or in the config file?
    bool given(const std::string& name) const;

    std::string help() const;
    const Manual& manual() const { return manual_; }

 private:
    using TakeWords = std::function<void(const std::vector<std::string>&)>;
    void add_positional_choice(const std::string& name, const std::vector<std::string>& choices, TakeWords take);
    void describe_positional(const std::string& name, const boost::program_options::value_semantic* value,
                             const std::string& help, std::size_t least, std::size_t most);
    void add_text(OptionText text, std::function<void(const std::string&)> take);
    void describe(OptionText text, const boost::program_options::value_semantic* value);
    bool print_what_is_asked_for();
    std::vector<std::string> names() const;

    Manual manual_;
    std::string group_;
    std::string positional_help_;
    std::size_t positional_least_ = 0;
    std::size_t positional_most_ = any_number;
    struct Boost;
    std::unique_ptr<Boost> boost_;
};

}  // namespace base
