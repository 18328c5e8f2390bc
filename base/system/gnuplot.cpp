#include "base/system/gnuplot.hpp"

#include "base/system/child.hpp"

#include <iostream>
#include <optional>
#include <string>
#include <system_error>

namespace base {

namespace {

std::string quoted(const std::string& text, bool as_format)
{
    std::string plain;
    for (const char c : text) {
        if (c == '\'')
            plain += "''";
        else if (c == '%' && as_format)
            plain += "%%";
        else if (static_cast<unsigned char>(c) < 0x20)
            plain += ' ';
        else
            plain += c;
    }
    return "'" + plain + "'";
}

}  // namespace

bool run_gnuplot(const std::string& program, const std::filesystem::path& folder, const std::string& name,
                 Nanoseconds patience)
{
    const std::string script = name + ".gp";
    const std::filesystem::path picture = folder / (name + ".svg");
    std::string why;
    std::error_code ignored;
    try {
        const std::optional<int> code = Child{{.words = {"gnuplot", script}, .folder = folder}}.wait(patience);
        if (code == 0 && std::filesystem::exists(picture, ignored)) return true;
        why = code ? "gnuplot failed on " + script : "gnuplot took longer than " + format(patience) + " on " + script;
    } catch (const std::system_error&) {
        why = "gnuplot is not there; " + script + " is ready for it";
    }
    std::filesystem::remove(picture, ignored);  // half a picture is none
    std::cerr << program << ": no " << name << ".svg: " << why << "\n";
    return false;
}

std::string gnuplot_text(const std::string& text)
{
    return quoted(text, false);
}

std::string gnuplot_tic(const std::string& text)
{
    return quoted(text, true);
}

}  // namespace base
