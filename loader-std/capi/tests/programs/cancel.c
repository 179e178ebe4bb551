/* Threads that are cancelled while a call is theirs: the call is answered, the thread ends behind it, and the process
   and the runtime go on. */
#include <pthread.h>
#include <string.h>
#include "nrt/nrt.h"
#include "check.h"

static unsigned char *neff;
static size_t neff_size;
static nrt_model_t *model;
static nrt_tensor_t *tensor;

/* What the call of the cancelled thread answered. */
static int answered;

static void *call(void *which) {
    char bytes[64] = {0};
    uint32_t count = 0;
    answered = -1;
    pthread_cancel(pthread_self());
    switch (*(const char *)which) {
    case 'i': answered = (int)nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""); break;
    case 'c': nrt_close(); answered = 0; break;
    case 'l': answered = (int)nrt_load(neff, neff_size, -1, -1, &model); break;
    case 'u': answered = (int)nrt_unload(model); break;
    case 't': answered = (int)nrt_get_total_vnc_count(&count); break;
    case 'n': answered = (int)nrt_get_instance_info((nrt_instance_info_t *)bytes, 32); break;
    case 'a': answered = (int)nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 4096, "t", &tensor); break;
    case 'w': answered = (int)nrt_tensor_write(tensor, bytes, 0, sizeof bytes); break;
    case 'f': nrt_tensor_free(&tensor); answered = 0; break;
    case 'r': answered = (int)nrt_load("abc", 3, -1, -1, &model) == NRT_INVALID ? 0 : 1; break;
    }
    pthread_testcancel();
    return NULL;
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    neff = read_file(arguments[1], &neff_size);
    for (const char *which = "iltnawrfuci"; *which != 0; which++) {
        pthread_t thread;
        void *result = NULL;
        CHECK(pthread_create(&thread, NULL, call, (void *)which) == 0 && pthread_join(thread, &result) == 0);
        fprintf(stderr, "%c: %d\n", *which, answered);
        CHECK(answered == 0 && result == PTHREAD_CANCELED);
    }
    CHECK(nrt_load(neff, neff_size, -1, -1, &model) == NRT_SUCCESS);
    nrt_close();
    free(neff);
    puts("done");
    return 0;
}
