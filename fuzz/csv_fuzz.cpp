// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as CSV: the result is a table of numbers and text, or a one-line error.
#include "base/csv.hpp"
#include "base/error.hpp"
#include "fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const fuzz::InputFile file{data, size};
    try {
        const base::CsvTable table{file.path()};
        for (std::size_t row = 0; row < table.rows(); ++row)
            for (const std::string& column : table.columns()) {
                static_cast<void>(table.text(row, column).size());
                try {
                    static_cast<void>(table.get<double>(row, column));
                    static_cast<void>(table.get<std::int64_t>(row, column));
                } catch (const base::Error&) {
                }
            }
    } catch (const base::Error&) {
    }
    return 0;
}
