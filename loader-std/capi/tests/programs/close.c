/* A close at any time: threads load, unload and fill tensors while one closes the runtime and initialises it again. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "nrt/nrt.h"
#include "check.h"

#define WORKERS 3
#define ROUNDS 40

static unsigned char *file;
static size_t size;
static atomic_int stop, loads;

/* What a call may answer while another thread closes. */
static int may_be(NRT_STATUS status) {
    return status == NRT_SUCCESS || status == NRT_CLOSED || status == NRT_UNINITIALIZED ||
           status == NRT_INVALID_HANDLE;
}

static void *work(void *core) {
    int vnc = *(int *)core;
    while (!stop) {
        nrt_model_t *model = NULL;
        nrt_tensor_t *tensor = NULL;
        NRT_STATUS status = nrt_load(file, size, vnc, -1, &model);
        CHECK(may_be(status));
        loads += status == NRT_SUCCESS;
        if (nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, vnc, 1 << 16, "t", &tensor) == NRT_SUCCESS) {
            CHECK(may_be(nrt_tensor_memset(tensor, 0, 7, 1 << 16)));
            nrt_tensor_free(&tensor);
        }
        CHECK(status != NRT_SUCCESS || may_be(nrt_unload(model)));
    }
    return NULL;
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    file = read_file(arguments[1], &size);
    CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS);
    pthread_t threads[WORKERS];
    int cores[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        cores[i] = i % 2;
        CHECK(pthread_create(&threads[i], NULL, work, &cores[i]) == 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        usleep(20000);
        nrt_close();
        usleep(round % 3 * 1000);
        CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS);
    }
    stop = 1;
    for (int i = 0; i < WORKERS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    nrt_close();
    CHECK(loads > 0);
    puts("done");
    return 0;
}
