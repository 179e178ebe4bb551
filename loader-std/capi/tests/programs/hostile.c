/* Wrong callers: null pointers, short buffers, handles that are none, use after free and after close, double free. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_version.h"
#include "check.h"

#define HUGE_SIZE ((size_t)-1)

/* As a caller that passes fewer arguments sees the function. */
typedef NRT_STATUS (*short_init)(int, const char *);

static void before_init(void) {
    nrt_tensor_t *tensor = NULL;
    nrt_tensor_set_t *set = NULL;
    CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 8, NULL, &tensor) == NRT_UNINITIALIZED);
    CHECK(nrt_allocate_tensor_set(&set) == NRT_UNINITIALIZED);
    CHECK(nrt_tensor_get_size(NULL) == 0);
    nrt_close(); /* nothing to close */
    CHECK(nrt_init((nrt_framework_type_t)77, (const char *)8, (const char *)8) == NRT_INVALID);
    /* Two arguments, framework 0; the third is whatever a register holds. */
    short_init volatile init = (short_init)(void (*)(void))nrt_init;
    CHECK(init(0, "client") == NRT_SUCCESS);
    /* Version texts that point nowhere are not looked at. */
    CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, (const char *)8, (const char *)16) == NRT_SUCCESS);
}

static void short_buffers(void) {
    unsigned char bytes[256];
    for (size_t size = 1; size <= sizeof bytes; size++) {
        memset(bytes, 0xEE, sizeof bytes);
        CHECK(nrt_get_version((nrt_version_t *)bytes, size) == NRT_SUCCESS);
        for (size_t i = size < sizeof(nrt_version_t) ? size : sizeof(nrt_version_t); i < sizeof bytes; i++) {
            CHECK(bytes[i] == 0xEE);
        }
        memset(bytes, 0xEE, sizeof bytes);
        CHECK(nrt_get_instance_info((nrt_instance_info_t *)bytes, size) == NRT_SUCCESS);
        for (size_t i = size < sizeof(nrt_instance_info_t) ? size : sizeof(nrt_instance_info_t); i < sizeof bytes;
             i++) {
            CHECK(bytes[i] == 0xEE);
        }
    }
    CHECK(nrt_get_version(NULL, 8) == NRT_INVALID && nrt_get_version((nrt_version_t *)bytes, 0) == NRT_INVALID);
    CHECK(nrt_get_instance_info(NULL, 8) == NRT_INVALID);
    CHECK(nrt_get_total_vnc_count(NULL) == NRT_INVALID && nrt_get_visible_nc_count(NULL) == NRT_INVALID);
}

static void bad_loads(const unsigned char *file, size_t size) {
    nrt_model_t *model = (nrt_model_t *)&size;
    CHECK(nrt_load(file, size, -1, -1, NULL) == NRT_INVALID);
    CHECK(nrt_load(NULL, size, -1, -1, &model) == NRT_INVALID);
    CHECK(nrt_load(file, HUGE_SIZE, -1, -1, &model) == NRT_INVALID);
    CHECK(nrt_load(file, size, 99, -1, &model) == NRT_INVALID);
    CHECK(nrt_load(file, size, -1, 7, &model) == NRT_INVALID);
    for (size_t part = 0; part < size; part += 1 + part / 2) {
        CHECK(nrt_load(file, part, -1, -1, &model) != NRT_SUCCESS);
    }
    CHECK(nrt_load_collectives(file, size, -1, -1, 0, 1, &model) == NRT_INVALID); /* no root communicator */
    /* A refused load leaves the caller's variable alone. */
    CHECK(model == (nrt_model_t *)&size);
}

/* Handles of every wrong kind, in every function that takes one. */
static void bad_handles(void *wrong, NRT_STATUS expected) {
    char bytes[8] = {0};
    uint32_t count = 7;
    size_t size = 9;
    nrt_tensor_t *tensor = NULL;
    nrt_tensor_info_array_t *info = NULL;
    CHECK(nrt_unload((nrt_model_t *)wrong) == expected);
    CHECK(nrt_get_model_vnc_count((nrt_model_t *)wrong, &count) == expected && count == 7);
    CHECK(nrt_get_model_nc_count((nrt_model_t *)wrong, &count) == expected && count == 7);
    CHECK(nrt_get_model_info((nrt_model_t *)wrong, (nrt_model_info_t *)&count, 4, &size) == expected && size == 9);
    CHECK(nrt_get_model_tensor_info((nrt_model_t *)wrong, &info) == expected && info == NULL);
    CHECK(nrt_free_model_tensor_info((nrt_tensor_info_array_t *)wrong) == NRT_INVALID_HANDLE);
    CHECK(nrt_execute((nrt_model_t *)wrong, wrong, wrong) == expected);
    CHECK(nrt_tensor_get_size((nrt_tensor_t *)wrong) == 0);
    CHECK(nrt_tensor_read((nrt_tensor_t *)wrong, bytes, 0, 8) == expected);
    CHECK(nrt_tensor_write((nrt_tensor_t *)wrong, bytes, 0, 8) == expected);
    CHECK(nrt_tensor_memset((nrt_tensor_t *)wrong, 0, 1, 8) == expected);
    CHECK(nrt_tensor_copy((nrt_tensor_t *)wrong, 0, (nrt_tensor_t *)wrong, 0, 8) == expected);
    CHECK(nrt_tensor_allocate_slice((nrt_tensor_t *)wrong, 0, 1, NULL, &tensor) == expected && tensor == NULL);
    CHECK(nrt_add_tensor_to_tensor_set(wrong, "x", (nrt_tensor_t *)wrong) == expected);
    CHECK(nrt_get_tensor_from_tensor_set(wrong, "x", &tensor) == expected && tensor == NULL);
    nrt_tensor_t *freed = (nrt_tensor_t *)wrong;
    nrt_tensor_free(&freed);
    nrt_tensor_set_t *destroyed = wrong;
    nrt_destroy_tensor_set(&destroyed);
    CHECK(freed == NULL && destroyed == NULL);
}

static void bad_tensors(void) {
    char bytes[16];
    nrt_tensor_t *tensor = NULL, *copy = NULL, *slice = NULL;
    CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 0, NULL, &tensor) == NRT_INVALID);
    CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, -1, 8, NULL, &tensor) == NRT_INVALID);
    CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, HUGE_SIZE, NULL, &tensor) == NRT_RESOURCE);
    CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_VIRTUAL, 0, 8, NULL, &tensor) == NRT_FAILURE);
    CHECK(nrt_tensor_allocate((nrt_tensor_placement_t)9, 0, 8, NULL, &tensor) == NRT_INVALID);
    CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 8, NULL, NULL) == NRT_INVALID && tensor == NULL);
    CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 8, NULL, &tensor) == NRT_SUCCESS);
    CHECK(nrt_tensor_read(tensor, NULL, 0, 8) == NRT_INVALID);
    CHECK(nrt_tensor_read(tensor, NULL, 0, 0) == NRT_SUCCESS);
    CHECK(nrt_tensor_read(tensor, bytes, 0, 9) == NRT_INVALID);
    CHECK(nrt_tensor_read(tensor, bytes, HUGE_SIZE, 2) == NRT_INVALID);
    CHECK(nrt_tensor_write(tensor, NULL, 0, 8) == NRT_INVALID);
    CHECK(nrt_tensor_write(tensor, bytes, 4, 5) == NRT_INVALID);
    CHECK(nrt_tensor_memset(tensor, (uint64_t)-1, 0, 2) == NRT_INVALID);
    CHECK(nrt_tensor_copy(tensor, 0, tensor, 4, 5) == NRT_INVALID);
    CHECK(nrt_tensor_copy(tensor, 4, tensor, 0, 5) == NRT_INVALID);
    CHECK(nrt_tensor_allocate_slice(tensor, 4, 5, NULL, &slice) == NRT_INVALID);
    CHECK(nrt_tensor_allocate_slice(tensor, 4, 0, NULL, &slice) == NRT_INVALID);
    CHECK(nrt_tensor_allocate_slice(tensor, 4, 4, NULL, NULL) == NRT_INVALID);
    copy = tensor;
    nrt_tensor_free(&tensor);
    CHECK(tensor == NULL);
    nrt_tensor_free(&tensor); /* null now */
    nrt_tensor_free(NULL);
    bad_handles(copy, NRT_INVALID_HANDLE); /* freed, freed twice by way of a copy */
}

static void bad_sets(void) {
    char name[300];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    nrt_tensor_t *tensor = NULL, *found = NULL;
    nrt_tensor_set_t *set = NULL;
    CHECK(nrt_allocate_tensor_set(NULL) == NRT_INVALID);
    CHECK(nrt_allocate_tensor_set(&set) == NRT_SUCCESS);
    CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 8, NULL, &tensor) == NRT_SUCCESS);
    CHECK(nrt_add_tensor_to_tensor_set(set, NULL, tensor) == NRT_INVALID);
    CHECK(nrt_add_tensor_to_tensor_set(set, name, tensor) == NRT_INVALID);
    CHECK(nrt_add_tensor_to_tensor_set(set, "x", (nrt_tensor_t *)set) == NRT_INVALID_HANDLE);
    CHECK(nrt_add_tensor_to_tensor_set(tensor, "x", tensor) == NRT_INVALID_HANDLE);
    CHECK(nrt_get_tensor_from_tensor_set(set, "x", &found) == NRT_INVALID);
    CHECK(nrt_add_tensor_to_tensor_set(set, "x", tensor) == NRT_SUCCESS);
    CHECK(nrt_get_tensor_from_tensor_set(set, "x", NULL) == NRT_INVALID);
    nrt_tensor_free(&tensor);
    CHECK(nrt_get_tensor_from_tensor_set(set, "x", &found) == NRT_INVALID_HANDLE && found == NULL);
    nrt_tensor_set_t *copy = set;
    nrt_destroy_tensor_set(&set);
    nrt_destroy_tensor_set(&set);
    nrt_destroy_tensor_set(NULL);
    bad_handles(copy, NRT_INVALID_HANDLE);
}

/* The runtime belongs to the process that initialised it. */
static void in_a_child(const unsigned char *file, size_t size) {
    pid_t child = fork();
    if (child == 0) {
        nrt_model_t *model = NULL;
        int ok = nrt_load(file, size, -1, -1, &model) == NRT_FAILURE;
        ok = ok && nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_FAILURE;
        nrt_close();
        _exit(ok ? 0 : 1);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void after_close(const unsigned char *file, size_t size) {
    nrt_model_t *model = NULL;
    nrt_tensor_info_array_t *info = NULL;
    nrt_tensor_t *tensor = NULL;
    CHECK(nrt_load(file, size, -1, -1, &model) == NRT_SUCCESS);
    CHECK(nrt_get_model_tensor_info(model, NULL) == NRT_INVALID);
    CHECK(nrt_get_model_info(model, NULL, 4, &size) == NRT_INVALID);
    CHECK(nrt_get_model_info(model, (nrt_model_info_t *)&size, 4, NULL) == NRT_INVALID);
    CHECK(nrt_get_model_tensor_info(model, &info) == NRT_SUCCESS);
    CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8, NULL, &tensor) == NRT_SUCCESS);
    nrt_close();
    bad_handles(model, NRT_UNINITIALIZED);
    nrt_close();
    CHECK(info->tensor_count > 0 && info->tensor_array[0].name[0] != 0); /* still readable */
    /* A new runtime knows nothing of the old handles. */
    CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, NULL, NULL) == NRT_SUCCESS);
    bad_handles(model, NRT_INVALID_HANDLE);
    bad_handles(tensor, NRT_INVALID_HANDLE);
    CHECK(nrt_free_model_tensor_info(info) == NRT_SUCCESS);
    CHECK(nrt_free_model_tensor_info(info) == NRT_INVALID_HANDLE);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    size_t size = 0;
    unsigned char *file = read_file(arguments[1], &size);
    before_init();
    short_buffers();
    bad_loads(file, size);
    bad_handles(NULL, NRT_INVALID_HANDLE);
    bad_handles((void *)1, NRT_INVALID_HANDLE);
    bad_handles(&size, NRT_INVALID_HANDLE);
    bad_handles((void *)(size_t)-1, NRT_INVALID_HANDLE);
    bad_tensors();
    bad_sets();
    in_a_child(file, size);
    after_close(file, size);
    CHECK(strcmp(nrt_get_status_as_str((NRT_STATUS)8), "UNKNOWN") == 0);
    CHECK(strcmp(nrt_get_status_as_str((NRT_STATUS)-5), "UNKNOWN") == 0);
    nrt_close();
    free(file);
    puts("done");
    return 0;
}
