// SPDX-License-Identifier: Apache-2.0
// Writes a data set with one file for each part, using a Writer that is made from a path and the samples' shape.
#pragma once

#include "ddl-workloads/data/data_set.hpp"

#include <filesystem>

namespace ddl {

template <class Writer>
class TwoFilesWriter : public DataSetWriter {
 public:
    TwoFilesWriter(const std::filesystem::path& train, const std::filesystem::path& held_out, const SampleShape& shape)
        : train_{train, shape}, held_out_{held_out, shape}
    {
    }
    void write(Part part, std::span<const std::uint8_t> record) override
    {
        (part == Part::train ? train_ : held_out_).write(record);
    }
    void finish() override
    {
        train_.finish();
        held_out_.finish();
    }

 private:
    Writer train_;
    Writer held_out_;
};

}  // namespace ddl
