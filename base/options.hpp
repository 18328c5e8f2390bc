// Command-line options over Boost.Program_options: typed values with units, a config file, help with an example, and
// the right word for a wrong one.
#pragma once

#include "base/error.hpp"
#include "base/units.hpp"

#include <boost/program_options.hpp>

#include <functional>
#include <string>
#include <vector>

namespace base {

class Options {
 public:
    Options(std::string program, std::string summary);

    // The option's value goes to `variable`, whose present value is the default shown by --help. T as in parse<T>().
    template <class T>
    void add(const std::string& name, T& variable, const std::string& help)
    {
        add_text(name, format(variable), help,
                 [&variable](const std::string& text) { variable = base::parse<T>(text); });
    }

    // May be given several times; each value is appended.
    void add(const std::string& name, std::vector<std::string>& values, const std::string& help);

    // A word that is there or not: --dry-run.
    void add_switch(const std::string& name, bool& variable, const std::string& help);

    // One word out of a few; another is refused with the right ones.
    void add_choice(const std::string& name, std::string& variable, std::vector<std::string> choices,
                    const std::string& help);

    // Words without dashes, in order; `least` of them must be there.
    void add_positional(const std::string& name, std::vector<std::string>& values, const std::string& help,
                        std::size_t least = 1);

    // A line or more for the end of --help.
    void example(std::string text) { examples_.push_back(std::move(text)); }
    void epilogue(std::string text) { epilogue_ = std::move(text); }

    // False if --help or --version was asked for and has been printed. Throws UsageError. `--config FILE.ini` supplies
    // what the command line does not.
    bool parse(int argc, char** argv);

    // Was the option given, on the command line or in the config file?
    bool given(const std::string& name) const;

    std::string help() const;

 private:
    void add_text(const std::string& name, const std::string& default_text, const std::string& help,
                  std::function<void(const std::string&)> take);
    std::vector<std::string> names() const;

    std::string program_;
    std::string summary_;
    boost::program_options::options_description described_;
    boost::program_options::options_description hidden_;
    boost::program_options::positional_options_description positional_;
    std::string positional_name_;
    std::string positional_help_;
    std::size_t positional_least_ = 0;
    boost::program_options::variables_map values_;
    std::vector<std::string> examples_;
    std::string epilogue_;
};

}  // namespace base
