/* Small objects until no more can be made, in a process that may take only so many MiB more. */
#include <string.h>
#include <sys/resource.h>
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "check.h"

#define MIB ((size_t)1 << 20)

/* Bytes of address space that the process has. */
static size_t taken(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    return pages * 4096;
}

/* Makes one more object of a kind; `first` is a tensor, `set` a set of tensors. */
static NRT_STATUS more(char kind, nrt_tensor_t *first, nrt_tensor_set_t *set, long number, nrt_tensor_t **tensor) {
    nrt_tensor_set_t *other = NULL;
    char name[32];
    switch (kind) {
        case 'd': return nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 64, "t", tensor);
        case 'h': return nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, 0, 64, "t", tensor);
        case 's': return nrt_tensor_allocate_slice(first, 0, 8, "t", tensor);
        case 't': return nrt_allocate_tensor_set(&other);
        default:
            snprintf(name, sizeof name, "name%ld", number);
            return nrt_add_tensor_to_tensor_set(set, name, first);
    }
}

int main(int count, char **arguments) {
    CHECK(count == 3);
    char kind = arguments[1][0];
    nrt_tensor_t *first = NULL, *last = NULL;
    nrt_tensor_set_t *set = NULL;
    NRT_STATUS status = NRT_SUCCESS;
    long made = 0;
    if (kind != 'i') {
        CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS);
        CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, 0, 64, "t", &first) == NRT_SUCCESS);
        CHECK(nrt_allocate_tensor_set(&set) == NRT_SUCCESS);
    }
    size_t most = taken() + (size_t)atol(arguments[2]) * (MIB / 4);
    struct rlimit limit = {most, most};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    if (kind == 'i') {
        status = nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
        CHECK(status == NRT_SUCCESS || status == NRT_RESOURCE);
        CHECK(status == NRT_SUCCESS || strstr(neffload_last_error(), "C802 ") != NULL);
    } else {
        while ((status = more(kind, first, set, made, &last)) == NRT_SUCCESS) made++;
        CHECK(status == NRT_RESOURCE || status == NRT_FAIL_HOST_MEM_ALLOC);
        /* What gives memory back is not refused, and then there is some. */
        CHECK(nrt_tensor_get_size(first) == 64);
        nrt_destroy_tensor_set(&set);
        nrt_tensor_free(&first);
    }
    nrt_close();
    printf("%ld made, then %d\n", made, (int)status);
    puts("done");
    return 0;
}
