// A C++ program: tensors with owners, slices that share memory, copies between device and host.
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#include "nrt/nrt.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_profile.h"
#include "check.h"

namespace {

struct Free {
    void operator()(nrt_tensor_t *tensor) const { nrt_tensor_free(&tensor); }
};
using Tensor = std::unique_ptr<nrt_tensor_t, Free>;

void ask(NRT_STATUS status) {
    if (status != NRT_SUCCESS) {
        throw std::runtime_error(std::string(nrt_get_status_as_str(status)) + ": " + neffload_last_error());
    }
}

Tensor allocate(nrt_tensor_placement_t placement, int core, size_t size) {
    nrt_tensor_t *tensor = nullptr;
    ask(nrt_tensor_allocate(placement, core, size, "tensor", &tensor));
    return Tensor(tensor);
}

Tensor slice(const Tensor &whole, size_t offset, size_t size) {
    nrt_tensor_t *tensor = nullptr;
    ask(nrt_tensor_allocate_slice(whole.get(), offset, size, nullptr, &tensor));
    return Tensor(tensor);
}

std::vector<unsigned char> read(const Tensor &tensor) {
    std::vector<unsigned char> bytes(nrt_tensor_get_size(tensor.get()));
    ask(nrt_tensor_read(tensor.get(), bytes.data(), 0, bytes.size()));
    return bytes;
}

struct Runtime {
    Runtime() { ask(nrt_init(NRT_FRAMEWORK_TYPE_PYTORCH, "2.9", "1.0")); }
    ~Runtime() { nrt_close(); }
};

} // namespace

int main() {
    Runtime runtime;
    const size_t size = 3 * 1024 * 1024 + 5;
    std::vector<unsigned char> pattern(size);
    for (size_t i = 0; i < size; i++) {
        pattern[i] = static_cast<unsigned char>(i * 31 + (i >> 12));
    }
    Tensor device = allocate(NRT_TENSOR_PLACEMENT_DEVICE, 1, size);
    ask(nrt_tensor_write(device.get(), pattern.data(), 0, size));
    CHECK(read(device) == pattern);

    Tensor host = allocate(NRT_TENSOR_PLACEMENT_HOST, -1, size);
    ask(nrt_tensor_copy(device.get(), 0, host.get(), 0, size));
    CHECK(read(host) == pattern);

    // A slice is the same memory, and keeps it when the whole is gone.
    Tensor part = slice(device, 1000, 100);
    ask(nrt_tensor_memset(part.get(), 10, 0x1ff, 20));
    std::memset(pattern.data() + 1010, 0xff, 20);
    CHECK(read(device) == pattern);
    Tensor inner = slice(part, 10, 20);
    device.reset();
    CHECK(read(inner) == std::vector<unsigned char>(20, 0xff));

    // Overlapping copies within one block behave as if through a buffer.
    Tensor row = allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8);
    ask(nrt_tensor_write(row.get(), "abcdefgh", 0, 8));
    ask(nrt_tensor_copy(row.get(), 0, row.get(), 2, 6));
    auto moved = read(row);
    CHECK(std::string(moved.begin(), moved.end()) == "ababcdef");

    // Device memory at two cores is not copied between.
    Tensor other = allocate(NRT_TENSOR_PLACEMENT_DEVICE, 1, 8);
    CHECK(nrt_tensor_copy(row.get(), 0, other.get(), 0, 8) == NRT_INVALID);

    try {
        allocate(NRT_TENSOR_PLACEMENT_DEVICE, 99, 8);
        CHECK(!"a core that is not there");
    } catch (const std::runtime_error &error) {
        CHECK(std::strstr(error.what(), "NRT_INVALID: ") == error.what());
    }

    // What is not implemented says so.
    nrta_error_tracker_t *tracker = nullptr;
    CHECK(nrta_error_tracker_create(0, &tracker) == NRT_FAILURE && tracker == nullptr);
    CHECK(nrt_profile_start(nullptr, "x") == NRT_FAILURE);
    CHECK(std::strstr(neffload_last_error(), "nrt_profile_start: not implemented") != nullptr);
    CHECK(nrt_tensor_get_va(row.get()) == nullptr);
    std::puts("done");
    return 0;
}
