// Owners as C++ programs have them: their destructors run when a thread ends, or after main, and make refused calls.
#include <cstdio>
#include <cstring>
#include <thread>
#include "nrt/nrt.h"
#include "check.h"

namespace {

struct Tensor {
    nrt_tensor_t *tensor = nullptr;
    ~Tensor() {
        nrt_tensor_t *copy = tensor;
        nrt_tensor_free(&tensor);
        nrt_tensor_free(&copy);  // refused: it is free
        CHECK(nrt_tensor_write(copy, "a", 0, 1) == NRT_INVALID_HANDLE);
        CHECK(std::strlen(neffload_last_error()) > 0);
    }
};

struct Model {
    nrt_model_t *model = nullptr;
    ~Model() {
        CHECK(nrt_unload(model) == NRT_UNINITIALIZED);
        CHECK(std::strlen(neffload_last_error()) > 0);
        std::puts("done");
    }
};

thread_local Tensor of_thread;
Model of_process;

}  // namespace

int main() {
    CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS);
    std::thread worker([] {
        of_thread.tensor = nullptr;  // made before the library keeps anything for this thread
        CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 64, "t", &of_thread.tensor) == NRT_SUCCESS);
        CHECK(nrt_tensor_write(of_thread.tensor, "a", 64, 1) == NRT_INVALID);
    });
    worker.join();
    CHECK(nrt_load("abc", 3, -1, -1, &of_process.model) == NRT_INVALID);
    nrt_close();
    return 0;
}
