// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/record_file.hpp"

#include "base/error.hpp"

namespace ddl {

RecordFile::RecordFile(std::filesystem::path path, const SampleShape& shape, const Reading& reading)
    : Records{shape}, file_{std::move(path), reading.access}
{
    const std::int64_t bytes = file_.bytes();
    set_records(bytes / shape.record_bytes());
    if (records() > 0 && bytes % shape.record_bytes() == 0) return;
    faults_.push_back(base::join(file_.path().string(), " is cut off or not a record file: ", bytes,
                                 " bytes are not one or more records of ", shape.record_bytes()));
    if (records() == 0 || !reading.skip_corrupt) base::fail(faults_.front());
}

void RecordFile::fetch(std::int64_t number, std::span<std::uint8_t> record) const
{
    file_.read_whole(number * shape().record_bytes(), record, "record " + std::to_string(number));
}

std::string RecordFile::place(std::int64_t number) const
{
    return base::join(file_.path().string(), ", byte ", number * shape().record_bytes());
}

RecordFileWriter::RecordFileWriter(std::filesystem::path path, const SampleShape& shape)
    : shape_{checked(shape)}, file_{std::move(path)}
{
}

void RecordFileWriter::write(std::span<const std::uint8_t> record)
{
    check_record(shape_, record, file_.path());
    file_.write(record);
}

void check_record(const SampleShape& shape, std::span<const std::uint8_t> record, const std::filesystem::path& path)
{
    if (std::ssize(record) != shape.record_bytes())
        base::fail(path.string(), ": a record of ", record.size(), " bytes instead of ", shape.record_bytes());
    const std::string fault = fault_of(shape, record);
    if (!fault.empty()) base::fail(path.string(), ": ", fault);
}

}  // namespace ddl
