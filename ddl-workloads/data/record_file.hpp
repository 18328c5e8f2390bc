// SPDX-License-Identifier: Apache-2.0
// A file of records without a header. For images it is the CIFAR-10 binary format: one label byte, then channels x
// height x width pixels (https://www.cs.toronto.edu/~kriz/cifar.html, where images are 3 x 32 x 32 with 10 classes).
#pragma once

#include "ddl-workloads/data/input_file.hpp"
#include "ddl-workloads/data/output_file.hpp"
#include "ddl-workloads/data/records.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ddl {

class RecordFile : public Records {
 public:
    // Throws std::system_error if the file cannot be opened, Error if it is empty or not a whole number of records.
    RecordFile(std::filesystem::path path, const SampleShape& shape, const Reading& reading = {});

    std::vector<std::string> faults() const override { return faults_; }
    bool past_page_cache() const override { return file_.past_page_cache(); }

 private:
    void fetch(std::int64_t number, std::span<std::uint8_t> record) const override;
    std::string place(std::int64_t number) const override;

    InputFile file_;
    std::vector<std::string> faults_;
};

class RecordFileWriter {
 public:
    RecordFileWriter(std::filesystem::path path, const SampleShape& shape);

    // Throws Error for a record of another size or with an invalid label, std::system_error (a full disk, for example).
    void write(std::span<const std::uint8_t> record);
    void finish() { file_.finish(); }

 private:
    SampleShape shape_;
    OutputFile file_;
};

// Throws Error, naming `path`, for a record of another size or with invalid contents.
void check_record(const SampleShape& shape, std::span<const std::uint8_t> record, const std::filesystem::path& path);

}  // namespace ddl
