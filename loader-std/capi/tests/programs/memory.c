/* A process that may take only so many MiB more: every call is answered, none ends the process. */
#include <string.h>
#include <sys/resource.h>
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "check.h"

#define MIB ((size_t)1 << 20)

/* What a call may answer when memory runs out. */
static int may_be(NRT_STATUS status) {
    return status == NRT_SUCCESS || status == NRT_RESOURCE || status == NRT_FAIL_HOST_MEM_ALLOC;
}

/* And a load, for which a thread that cannot be made is a failure. */
static int load_may_be(NRT_STATUS status) {
    return may_be(status) || status == NRT_FAILURE;
}

/* Bytes of address space that the process has. */
static size_t taken(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    return pages * 4096;
}

int main(int count, char **arguments) {
    CHECK(count == 3);
    size_t size = 0;
    unsigned char *file = read_file(arguments[1], &size), *bytes = malloc(32 * MIB);
    CHECK(bytes != NULL);
    memset(bytes, 7, 32 * MIB);
    CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS);
    size_t most = taken() + (size_t)atol(arguments[2]) * MIB;
    struct rlimit limit = {most, most};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);

    nrt_model_t *model = NULL;
    NRT_STATUS status = nrt_load(file, size, 0, -1, &model);
    printf("load: %d\n", (int)status);
    CHECK(load_may_be(status) && (status == NRT_SUCCESS) == (model != NULL));
    nrt_tensor_info_array_t *info = NULL;
    CHECK(model == NULL || may_be(nrt_get_model_tensor_info(model, &info)));

    /* More than the limit lets the simulated device keep. */
    nrt_tensor_t *tensor = NULL, *other = NULL;
    status = nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 2048 * MIB, "t", &tensor);
    CHECK(may_be(status));
    if (status == NRT_SUCCESS) {
        CHECK(may_be(nrt_tensor_write(tensor, bytes, 0, 32 * MIB)));
        CHECK(may_be(nrt_tensor_copy(tensor, 0, tensor, 5, 512 * MIB)));
        CHECK(nrt_tensor_memset(tensor, 0, 1, 2048 * MIB) == NRT_RESOURCE);
        CHECK(may_be(nrt_tensor_read(tensor, bytes, 7, 32 * MIB)));
        if (nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, 0, 512 * MIB, "h", &other) == NRT_SUCCESS) {
            CHECK(may_be(nrt_tensor_copy(tensor, 0, other, 0, 512 * MIB)));
        }
    }
    /* Until nothing more goes, with what was kept still there. */
    for (int i = 0; i < 40 && (status = nrt_load(file, size, i % 4, -1, &model)) == NRT_SUCCESS; i++) {
    }
    CHECK(load_may_be(status));
    nrt_tensor_free(&tensor);
    nrt_tensor_free(&other);
    nrt_close();
    puts("done");
    return 0;
}
