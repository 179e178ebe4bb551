/* Calls after main: exit handlers run when the thread's own variables are gone. */
#include <string.h>
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "check.h"

static unsigned char *file;
static size_t size;
static nrt_model_t *kept;

/* Refused and taken calls of every kind, each as in main. */
static void bye(void) {
    CHECK(neffload_last_error() != NULL && strlen(neffload_last_error()) > 0);
    nrt_model_t *model = NULL;
    nrt_tensor_t *tensor = NULL, *wrong = (nrt_tensor_t *)1;
    CHECK(nrt_load("abc", 3, -1, -1, &model) == NRT_INVALID);
    CHECK(strstr(neffload_last_error(), "is ending") != NULL);
    CHECK(nrt_unload(NULL) == NRT_INVALID_HANDLE);
    CHECK(nrt_trace_stop(NULL) == NRT_FAILURE);
    CHECK(nrt_load(file, size, 1, -1, &model) == NRT_SUCCESS);
    CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 64, NULL, &tensor) == NRT_SUCCESS);
    CHECK(nrt_tensor_write(tensor, "a", 64, 1) == NRT_INVALID);
    nrt_tensor_free(&tensor);
    nrt_tensor_free(&wrong);
    CHECK(nrt_unload(kept) == NRT_SUCCESS && nrt_unload(kept) == NRT_INVALID_HANDLE);
    nrt_close();
    CHECK(nrt_unload(model) == NRT_UNINITIALIZED);
    free(file);
    puts("done");
    fflush(stdout);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    file = read_file(arguments[1], &size);
    CHECK(atexit(bye) == 0);
    CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS);
    CHECK(nrt_load(file, size, 0, -1, &kept) == NRT_SUCCESS);
    CHECK(nrt_unload(NULL) == NRT_INVALID_HANDLE); /* the thread has a text */
    CHECK(strstr(neffload_last_error(), "nrt_unload") != NULL);
    return 0;
}
