// SPDX-License-Identifier: Apache-2.0
#include "base/cli/manual.hpp"

#include "base/version.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace base {

namespace {

// Name of a command's man page: git-commit(1) for "git commit".
std::string one_word(std::string program)
{
    std::replace(program.begin(), program.end(), ' ', '-');
    return program;
}

std::string upper(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

// Text that roff prints unchanged: dashes stay ASCII dashes, so that options can be copied, and no line is a request.
std::string roff(const std::string& text)
{
    std::string safe;
    bool line_begins = true;
    for (const char c : text) {
        if (line_begins && (c == '.' || c == '\'')) safe += "\\&";
        if (c == '\\')
            safe += "\\e";
        else if (c == '-')
            safe += "\\-";
        else if (c == '\'')
            safe += "\\(aq";
        else if (c == '^')
            safe += "\\(ha";
        else if (c == '~')
            safe += "\\(ti";
        else if (c == '`')
            safe += "\\(ga";
        else
            safe += c;
        line_begins = c == '\n';
    }
    return safe;
}

std::string bold(const std::string& text)
{
    return "\\fB" + roff(text) + "\\fR";
}

std::string italic(const std::string& text)
{
    return "\\fI" + roff(text) + "\\fR";
}

std::string sentence(std::string text)
{
    if (!text.empty() && text.back() != '.' && text.back() != ':') text += '.';
    return text;
}

class ManPage {
 public:
    explicit ManPage(const Manual& manual)
    {
        page_ << ".TH " << upper(one_word(manual.program)) << " 1 \"" << revision_date() << "\" \"Crosstalk "
              << version() << "\" \"Crosstalk\"\n"
              << ".nh\n.ad l\n";  // no hyphenation: words can be searched and copied
    }

    void section(const std::string& title) { page_ << ".SH \"" << upper(title) << "\"\n"; }
    void subsection(const std::string& title) { page_ << ".SS \"" << roff(title) << "\"\n"; }

    void line(const std::string& text) { page_ << text << "\n"; }

    // Breaks the text into short lines, as linters of man pages prefer.
    void sentences(const std::string& text)
    {
        constexpr std::size_t length = 64;  // before dashes are escaped
        page_ << (text.empty() ? "\\&\n" : roff(wrapped(text, 0, length)));
    }

    // Splits the text into paragraphs at empty lines.
    void paragraphs(std::string_view text)
    {
        for (std::size_t end = text.find("\n\n"); end != std::string_view::npos; end = text.find("\n\n")) {
            sentences(std::string{text.substr(0, end)});
            line(".PP");
            text.remove_prefix(end + 2);
        }
        sentences(std::string{text});
    }

    void item(const std::string& term, const std::string& text)
    {
        page_ << ".TP\n" << term << "\n";
        sentences(text);
    }

    void entries(const std::vector<Entry>& entries)
    {
        for (const Entry& entry : entries) {
            item(bold(entry.term), entry.text);
            if (entry.below.empty()) continue;
            line(".RS");
            this->entries(entry.below);
            line(".RE");
        }
    }

    void as_typed(const std::vector<std::string>& lines)
    {
        line(".nf");
        for (const std::string& typed : lines) line(roff(typed));
        line(".fi");
    }

    std::string text() const { return page_.str(); }

 private:
    std::ostringstream page_;
};

std::string option_term(const OptionText& option)
{
    std::string term = bold("--" + option.name);
    if (!option.letter.empty()) term = bold("-" + option.letter) + ", " + term;
    if (!option.value.empty()) term += " " + italic(option.value);
    if (option.several) term += " ...";
    return term;
}

std::string option_help(const OptionText& option)
{
    std::string text = sentence(option.help);
    if (!option.default_text.empty()) text += " Default: " + option.default_text + ".";
    return text;
}

void write_options(ManPage& page, const Manual& manual)
{
    page.section("Options");
    const std::vector<OptionGroup> groups = option_groups(manual);
    for (const OptionGroup& group : groups) {
        if (groups.size() > 1) page.subsection(group.title);
        for (const OptionText& option : group.options) page.item(option_term(option), option_help(option));
    }
}

// The names of the options for which `takes` is true: "--one --two".
template <class Condition>
std::string option_words(const Manual& manual, const std::string& between, Condition takes)
{
    std::vector<std::string> words;
    for (const OptionText& option : manual.options)
        if (takes(option)) words.push_back("--" + option.name);
    return join_words(words, between);
}

// A branch of a bash case statement; empty if there are no options.
std::string bash_case(const std::string& options, const std::string& command)
{
    return options.empty() ? "" : "    " + options + ")\n        " + command + "\n        return ;;\n";
}

// The text quoted as one bash word.
std::string quoted(const std::string& text)
{
    std::string safe = "'";
    for (const char c : text) safe += c == '\'' ? std::string{"'\\''"} : std::string{c};
    return safe + "'";
}

// Finds the option that the word belongs to and the typed part of its value: bash splits words at = and : too.
constexpr const char* bash_value =
    R"(    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} option= typed= i
    COMPREPLY=()
    for ((i = 1; i <= COMP_CWORD; ++i)); do
        case ${COMP_WORDS[i]} in
        --*) option=${COMP_WORDS[i]} typed= ;;
        [=:]) [[ ${COMP_WORDS[i - 1]} == --* ]] || typed+=${COMP_WORDS[i]} ;;
        *)
            [[ ${COMP_WORDS[i - 1]} == [=:] ]] || typed=
            typed+=${COMP_WORDS[i]}
            ;;
        esac
    done
    [[ $current == -* ]] && option=
    [[ $current == [=:] ]] && current= || [[ $before == [=:] || $before == "$option" ]] || option=
)";

constexpr const char* bash_plug_ins = R"(
# Completes names, and inside brackets options. $1: what was typed of the value; $2: the word that readline replaces;
# $3: forms that may begin a value; then plug-ins, each with its options: 'name option option'.
@FUNCTION@_plug_ins()
{
    local typed=$1 replaced=$2 forms=$3 names= options= plug_in
    shift 3
    [[ $typed == [\'\"]* ]] && typed=${typed:1}
    [[ $replaced == [\'\"]* ]] && replaced=${replaced:1}
    local tail=${typed##*\]}
    if [[ $tail == *\[* ]]; then
        local named=${tail%%\[*} last=${tail##*[\[,]}
        named=${named##*[ ;,(=]}
        for plug_in in "$@"; do
            [[ ${plug_in%% *} == "$named" && $plug_in == *' '* ]] && options=${plug_in#* }
        done
        COMPREPLY=($(compgen -S = -W "$options" -- "$last"))
    else
        local last=${typed##*[ ;,(=]}
        for plug_in in "$@"; do names+=" ${plug_in%% *}"; done
        [[ $last == "$typed" ]] && names+=" $forms"
        COMPREPLY=($(compgen -W "$names" -- "$last"))
    fi
    compopt -o nospace 2>/dev/null
    local before=${replaced%"$last"}
    COMPREPLY=("${COMPREPLY[@]/#/"$before"}")
}
)";

// `function` is the program's completion function; its commands share it.
std::string plug_in_call(const std::string& function, const PlugInWords& words)
{
    std::string call = function + "_plug_ins \"$typed\" \"$current\" " + quoted(join_words(words.forms, " "));
    for (const auto& [name, options] : words.options)
        call += " \\\n            " + quoted(options.empty() ? name : name + " " + join_words(options, " "));
    return call;
}

std::string function_name(const std::string& program)
{
    std::string function = "_" + program;
    std::replace_if(
        function.begin(), function.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return function;
}

// Position of a command's own subcommand on the command line: 2 for "git remote".
std::string place_of_commands(const Manual& manual)
{
    return std::to_string(1 + std::ranges::count(manual.program, ' '));
}

// Calls the completion function of the command.
std::string bash_commands(const Manual& manual)
{
    if (manual.commands.empty()) return "";
    const std::string place = place_of_commands(manual);
    std::string cases = "    ((COMP_CWORD > " + place + ")) && case ${COMP_WORDS[" + place + "]} in\n";
    for (const Manual& command : manual.commands)
        cases += bash_case(command_word(command), function_name(command.program));
    return cases + "    esac\n";
}

// Words that may stand where no option value is expected: plug-ins, commands, options.
std::string bash_words(const Manual& manual, const std::string& program_function)
{
    std::string words;
    const auto plug_ins = manual.plug_ins.find(manual.positional);
    if (plug_ins != manual.plug_ins.end())
        words = "    if [[ $current != -* ]]; then\n        " + plug_in_call(program_function, plug_ins->second) +
                "\n        return\n    fi\n";
    words += "    local words=" + quoted(option_words(manual, " ", [](const OptionText&) { return true; })) + "\n";
    for (const Manual& command : manual.commands)
        words += "    ((COMP_CWORD == " + place_of_commands(manual) +
                 ")) && words+=" + quoted(" " + command_word(command)) + "\n";
    return words + "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n";
}

std::string bash_function(const Manual& manual, const std::string& program_function)
{
    std::ostringstream script;
    for (const Manual& command : manual.commands) script << bash_function(command, program_function) << "\n";
    script << function_name(manual.program) << "()\n{\n"
           << bash_commands(manual) << bash_value << "    case $option in\n";
    for (const auto& [option, words] : manual.plug_ins)
        if (option != manual.positional) script << bash_case("--" + option, plug_in_call(program_function, words));
    for (const OptionText& option : manual.options)
        if (!option.choices.empty())
            script << bash_case("--" + option.name, "COMPREPLY=($(compgen -W " +
                                                        quoted(join_words(option.choices, " ")) + " -- \"$current\"))");
    const auto begins = [](const char* word) {
        return [word](const OptionText& option) { return option.value.starts_with(word); };
    };
    script << bash_case(option_words(manual, " | ", begins("DIR")),
                        "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$current\"))")
           << bash_case(option_words(manual, " | ", begins("FILE")),
                        "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$current\"))");
    const auto takes_other = [&manual](const OptionText& option) {
        return !option.value.empty() && option.choices.empty() && !manual.plug_ins.contains(option.name) &&
               !option.value.starts_with("DIR") && !option.value.starts_with("FILE");
    };
    script << bash_case(option_words(manual, " | ", takes_other), ":") << "    esac\n"
           << bash_words(manual, program_function) << "}\n";
    return script.str();
}

}  // namespace

std::vector<OptionGroup> option_groups(const Manual& manual)
{
    std::vector<OptionGroup> groups;
    OptionGroup other;
    for (const OptionText& option : manual.options) {
        const auto same = [&option](const OptionGroup& group) { return group.title == option.group; };
        auto group = std::ranges::find_if(groups, same);
        if (option.group.empty())
            other.options.push_back(option);
        else if (group != groups.end())
            group->options.push_back(option);
        else
            groups.push_back({option.group, {option}});
    }
    other.title = groups.empty() ? "Options" : "Other options";
    groups.push_back(std::move(other));
    return groups;
}

std::string command_word(const Manual& command)
{
    return command.program.substr(command.program.rfind(' ') + 1);
}

Section commands_section(const Manual& manual)
{
    Section section{.title = "Commands"};
    for (const Manual& command : manual.commands)
        section.entries.push_back({.term = command_word(command), .text = command.summary});
    return section;
}

std::string man_page(const Manual& manual)
{
    ManPage page{manual};
    page.section("Name");
    page.line(roff(manual.program) + " \\- " + roff(manual.summary));
    page.section("Synopsis");
    page.line(bold(manual.program) + " " + roff(manual.synopsis));
    if (!manual.commands.empty()) {
        page.line(".br");
        page.line(bold(manual.program) + " " + italic("COMMAND") + " ...");
    }
    page.section("Description");
    page.paragraphs(manual.description.empty() ? sentence(manual.summary) : manual.description);
    if (!manual.commands.empty()) {
        const Section commands = commands_section(manual);
        page.section(commands.title);
        page.entries(commands.entries);
    }
    write_options(page, manual);
    for (const Section& section : manual.sections) {
        page.section(section.title);
        if (!section.text.empty()) page.paragraphs(section.text);
        page.entries(section.entries);
    }
    if (!manual.examples.empty()) {
        page.section("Examples");
        page.as_typed(manual.examples);
    }
    if (!manual.epilogue.empty()) {
        page.section("Notes");
        page.paragraphs(manual.epilogue);
    }
    if (!manual.see_also.empty()) {
        page.section("See also");
        page.sentences(manual.see_also);
    }
    return page.text();
}

std::string bash_completion(const Manual& manual)
{
    const std::string function = function_name(manual.program);
    const auto has_plug_ins = [](const Manual& any) { return !any.plug_ins.empty(); };
    std::string plug_ins;
    if (has_plug_ins(manual) || std::ranges::any_of(manual.commands, has_plug_ins)) plug_ins = bash_plug_ins;
    for (std::size_t at = plug_ins.find("@FUNCTION@"); at != std::string::npos; at = plug_ins.find("@FUNCTION@"))
        plug_ins.replace(at, 10, function);

    std::string script = "# bash completion for " + manual.program + "\n" + plug_ins + "\n";
    return script + bash_function(manual, function) + "complete -F " + function + " " + manual.program + "\n";
}

}  // namespace base
