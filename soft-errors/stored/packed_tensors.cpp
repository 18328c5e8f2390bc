// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/stored/packed_tensors.hpp"

#include "base/contract/stored_state.hpp"
#include "base/error.hpp"
#include "soft-errors/state/hdf5.hpp"
#include "soft-errors/stored/mapped_store.hpp"

#include <algorithm>
#include <map>

namespace soft_errors {

using hdf5::check;

namespace {

// A tensor opened by HDF5, read and written a chunk at a time.
class OpenTensor {
 public:
    OpenTensor(hid_t file, const Tensor& tensor)
        : tensor_{tensor},
          set_{check(H5Dopen2(file, tensor.path.c_str(), H5P_DEFAULT), "open ", tensor.path)},
          type_{check(H5Dget_type(set_.get()), "read the type of ", tensor.path)},
          space_{check(H5Dget_space(set_.get()), "read the shape of ", tensor.path)}
    {
        if (H5Tget_size(type_.get()) != static_cast<std::size_t>(tensor.format.bytes))
            base::fail(tensor.path, " has changed its type");
    }

    hid_t set() const { return set_.get(); }

    // Reads a whole chunk row by row; a chunk at the edge of the tensor is padded with zeros.
    void read(std::uint64_t chunk, std::vector<std::byte>& bytes)
    {
        bytes.assign(chunk_elements() * size(), std::byte{0});
        const hdf5::Space memory = select(chunk);
        check(H5Dread(set_.get(), type_.get(), memory.get(), space_.get(), H5P_DEFAULT, bytes.data()), "read ",
              tensor_.path, ": it is damaged");
    }
    void write(std::uint64_t chunk, const std::vector<std::byte>& bytes)
    {
        const hdf5::Space memory = select(chunk);
        check(H5Dwrite(set_.get(), type_.get(), memory.get(), space_.get(), H5P_DEFAULT, bytes.data()), "write ",
              tensor_.path);
    }

 private:
    std::size_t size() const { return static_cast<std::size_t>(tensor_.format.bytes); }
    std::uint64_t chunk_elements() const
    {
        std::uint64_t elements = 1;
        for (const std::uint64_t length : tensor_.chunk) elements *= length;
        return elements;
    }
    hdf5::Space select(std::uint64_t chunk)
    {
        if (tensor_.shape.empty()) {
            check(H5Sselect_all(space_.get()), "select all");
            return hdf5::Space{check(H5Screate(H5S_SCALAR), "make a space")};
        }
        const std::vector<std::uint64_t> start = begin_of_chunk(tensor_, chunk);
        std::vector<hsize_t> begin(start.begin(), start.end());
        std::vector<hsize_t> count;
        for (std::size_t i = 0; i < begin.size(); ++i)
            count.push_back(std::min(tensor_.chunk[i], tensor_.shape[i] - start[i]));
        check(H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr),
              "select a chunk");
        const std::vector<hsize_t> sizes(tensor_.chunk.begin(), tensor_.chunk.end());
        const std::vector<hsize_t> zeros(begin.size(), 0);
        hdf5::Space memory{
            check(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), "make a space")};
        check(H5Sselect_hyperslab(memory.get(), H5S_SELECT_SET, zeros.data(), nullptr, count.data(), nullptr),
              "select a chunk");
        return memory;
    }

    const Tensor& tensor_;
    hdf5::DataSet set_;
    hdf5::Type type_;
    hdf5::Space space_;
};

struct OpenFile {
    OpenFile(const StoredFile& file, bool to_write, std::uint64_t room = 0)
        : store{file, room}, access{hdf5::access_through(&store)}
    {
        // No chunk cache: numbers are in the order of chunks, and no chunk is used twice.
        check(H5Pset_cache(access.get(), 0, 0, 0, 0.75), "set the cache");
        opened = hdf5::File{check(H5Fopen(file.path.c_str(), to_write ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access.get()),
                                  "open ", file.path.string())};
    }
    void close()
    {
        if (opened.valid()) opened = hdf5::File{};
    }

    MappedStore store;
    hdf5::Properties access;
    hdf5::File opened;
};

// [chunk]: its numbers of one tensor, with their index in the chunk.
using ByChunk = std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, Number*>>>;

template <class Numbers, class Work>
void each_tensor(const StoredState& state, Numbers& numbers, const Work& work)
{
    for (auto first = numbers.begin(); first != numbers.end();) {
        const Tensor& tensor = state.tensors[first->tensor];
        ByChunk chunks;
        auto last = first;
        for (; last != numbers.end() && last->tensor == first->tensor; ++last) {
            const InChunk place = in_chunk(tensor, last->index);
            chunks[place.chunk].emplace_back(place.index, const_cast<Number*>(&*last));
        }
        work(tensor, chunks);
        first = last;
    }
}

}  // namespace

void read_packed(const StoredState& state, std::size_t file, std::vector<Number>& numbers)
{
    const hdf5::Lock lock;
    const OpenFile open{state.files[file], false};
    std::vector<std::byte> bytes;
    each_tensor(state, numbers, [&](const Tensor& tensor, ByChunk& chunks) {
        OpenTensor set{open.opened.get(), tensor};
        for (auto& [chunk, wanted] : chunks) {
            set.read(chunk, bytes);
            for (auto& [index, number] : wanted)
                number->bits =
                    load_bits(tensor.format, bytes.data() + index * static_cast<std::uint64_t>(tensor.format.bytes));
        }
    });
}

std::vector<NewBytes> written_by_hdf5(const StoredState& state, std::size_t file, const std::vector<Number>& numbers,
                                      const std::vector<NewChecksum>& checksums)
{
    constexpr std::uint64_t spare = std::uint64_t{1} << 30U;
    const hdf5::Lock lock;
    OpenFile open{state.files[file], true, state.files[file].bytes + spare};
    std::vector<std::byte> bytes;
    each_tensor(state, numbers, [&](const Tensor& tensor, const ByChunk& chunks) {
        OpenTensor set{open.opened.get(), tensor};
        for (const auto& [chunk, changed] : chunks) {
            set.read(chunk, bytes);
            for (const auto& [index, number] : changed)
                store_bits(tensor.format, number->bits,
                           bytes.data() + index * static_cast<std::uint64_t>(tensor.format.bytes));
            set.write(chunk, bytes);
        }
    });
    for (const NewChecksum& one : checksums) {
        const OpenTensor set{open.opened.get(), state.tensors[one.tensor]};
        const hdf5::Attribute attribute{
            check(H5Aopen(set.set(), base::checkpoint::checksum, H5P_DEFAULT), "open a checksum")};
        check(H5Awrite(attribute.get(), H5T_NATIVE_UINT32, &one.value), "write a checksum");
    }
    check(H5Fflush(open.opened.get(), H5F_SCOPE_GLOBAL), "write ", state.files[file].path.string());
    open.close();
    std::vector<NewBytes> all;
    for (const auto& [begin, end] : open.store.written()) {
        const auto* const from = reinterpret_cast<const char*>(open.store.bytes().data());
        all.push_back({begin, {from + begin, from + end}});
    }
    all.push_back({open.store.bytes().size(), {}});  // HDF5 may have extended the file without writing its last bytes
    return all;
}

std::string read_whole_tensor(const StoredState& state, const Tensor& tensor)
{
    const hdf5::Lock lock;
    const OpenFile open{state.files[tensor.file], false};
    const hdf5::DataSet set{check(H5Dopen2(open.opened.get(), tensor.path.c_str(), H5P_DEFAULT), "open ", tensor.path)};
    const hdf5::Type type{check(H5Dget_type(set.get()), "read the type of ", tensor.path)};
    std::string bytes(tensor.elements * static_cast<std::uint64_t>(tensor.format.bytes), '\0');
    check(H5Dread(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), "read ", tensor.path);
    return bytes;
}

}  // namespace soft_errors
