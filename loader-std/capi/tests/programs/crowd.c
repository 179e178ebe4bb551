/* Eight threads that allocate at the same time: nobody is refused while the device has room. */
#include <pthread.h>
#include "nrt/nrt.h"
#include "check.h"

enum { THREADS = 8, TENSORS = 40, ROUNDS = 6 };

static pthread_barrier_t together;

static void *allocate(void *unused) {
    (void)unused;
    nrt_tensor_t *tensors[TENSORS];
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&together);
        for (int at = 0; at < TENSORS; at++) {
            CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 4096, "t", &tensors[at]) == NRT_SUCCESS);
        }
        pthread_barrier_wait(&together);
        for (int at = 0; at < TENSORS; at++) nrt_tensor_free(&tensors[at]);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS);
    CHECK(pthread_barrier_init(&together, NULL, THREADS) == 0);
    for (int at = 0; at < THREADS; at++) CHECK(pthread_create(&threads[at], NULL, allocate, NULL) == 0);
    for (int at = 0; at < THREADS; at++) CHECK(pthread_join(threads[at], NULL) == 0);
    nrt_close();
    puts("done");
    return 0;
}
