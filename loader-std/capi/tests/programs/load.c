/* What a program for the runtime does: initialise, load, ask, fill tensors, execute, unload, close. */
#include <string.h>
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_version.h"
#include "check.h"

#define MOST 16

static void describe_runtime(void) {
    nrt_version_t version;
    CHECK(nrt_get_version(&version, sizeof version) == NRT_SUCCESS);
    CHECK(version.rt_major == NRT_MAJOR_VERSION && version.rt_minor == NRT_MINOR_VERSION);
    nrt_instance_info_t instance;
    CHECK(nrt_get_instance_info(&instance, sizeof instance) == NRT_SUCCESS);
    CHECK(instance.family == NRT_INSTANCE_TRN2 && strcmp(instance.arch_name, "trn2") == 0);
    uint32_t total = 0, visible = 0;
    CHECK(nrt_get_total_vnc_count(&total) == NRT_SUCCESS && total == 4);
    CHECK(nrt_get_visible_vnc_count(&visible) == NRT_SUCCESS && visible == 4);
    printf("libnrt %u.%u (%s), %s, %u logical cores\n", (unsigned)version.rt_major, (unsigned)version.rt_minor,
           version.rt_detail, instance.arch_name, total);
}

/* A tensor of that size in device memory, in its set. */
static nrt_tensor_t *bound(nrt_tensor_set_t *set, const char *name, size_t size) {
    nrt_tensor_t *tensor = NULL, *found = NULL;
    CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, size, name, &tensor) == NRT_SUCCESS);
    CHECK(nrt_tensor_get_size(tensor) == size);
    CHECK(nrt_tensor_memset(tensor, 0, 0, size) == NRT_SUCCESS);
    CHECK(nrt_add_tensor_to_tensor_set(set, name, tensor) == NRT_SUCCESS);
    CHECK(nrt_get_tensor_from_tensor_set(set, name, &found) == NRT_SUCCESS && found == tensor);
    return tensor;
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    size_t size = 0;
    unsigned char *file = read_file(arguments[1], &size);
    nrt_model_t *model = NULL;
    CHECK(nrt_load(file, size, -1, -1, &model) == NRT_UNINITIALIZED && model == NULL);
    CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS);
    describe_runtime();

    CHECK(nrt_load(file, size, -1, -1, &model) == NRT_SUCCESS);
    uint32_t cores = 0;
    CHECK(nrt_get_model_vnc_count(model, &cores) == NRT_SUCCESS && cores == 1);
    nrt_model_info_t place = {77};
    size_t written = 0;
    CHECK(nrt_get_model_info(model, &place, sizeof place, &written) == NRT_SUCCESS);
    CHECK(place.vnc == 0 && written == sizeof place);
    nrt_tensor_info_array_t *info = NULL;
    CHECK(nrt_get_model_tensor_info(model, &info) == NRT_SUCCESS);
    CHECK(info->tensor_count > 0 && info->tensor_count <= MOST);

    nrt_tensor_set_t *inputs = NULL, *outputs = NULL;
    CHECK(nrt_allocate_tensor_set(&inputs) == NRT_SUCCESS);
    CHECK(nrt_allocate_tensor_set(&outputs) == NRT_SUCCESS);
    /* Empty sets name no tensor of the model. */
    CHECK(nrt_execute(model, inputs, outputs) == NRT_INVALID);
    nrt_tensor_t *tensors[MOST];
    for (uint64_t i = 0; i < info->tensor_count; i++) {
        const nrt_tensor_info_t *tensor = &info->tensor_array[i];
        int output = tensor->usage == NRT_TENSOR_USAGE_OUTPUT;
        tensors[i] = bound(output ? outputs : inputs, tensor->name, tensor->size);
        printf("%s %s: dtype %d, %zu bytes, extents", output ? "output" : "input", tensor->name,
               (int)tensor->dtype, tensor->size);
        for (uint32_t d = 0; d < tensor->ndim; d++) {
            printf(" %u", tensor->shape[d]);
        }
        printf("\n");
    }
    /* Everything is bound, and still nothing ran: no success. */
    CHECK(nrt_execute(model, inputs, outputs) == NRT_FAILURE);
    CHECK(strstr(neffload_last_error(), "not implemented") != NULL);
    CHECK(nrt_execute_repeat(model, inputs, outputs, 3) == NRT_FAILURE);
    CHECK(nrt_execute_repeat(model, inputs, outputs, 0) == NRT_INVALID);

    /* A tensor that is too small is named. */
    nrt_tensor_t *small = NULL;
    CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 1, NULL, &small) == NRT_SUCCESS);
    CHECK(nrt_add_tensor_to_tensor_set(inputs, info->tensor_array[0].name, small) == NRT_SUCCESS);
    CHECK(nrt_execute(model, inputs, outputs) == NRT_INVALID);
    CHECK(strstr(neffload_last_error(), info->tensor_array[0].name) != NULL);

    nrt_destroy_tensor_set(&inputs);
    nrt_destroy_tensor_set(&outputs);
    CHECK(inputs == NULL && outputs == NULL);
    nrt_tensor_free(&small);
    for (uint64_t i = 0; i < info->tensor_count; i++) {
        nrt_tensor_free(&tensors[i]);
    }
    CHECK(nrt_free_model_tensor_info(info) == NRT_SUCCESS);
    CHECK(nrt_unload(model) == NRT_SUCCESS);
    nrt_close();
    CHECK(nrt_unload(model) == NRT_UNINITIALIZED);
    free(file);
    puts("done");
    return 0;
}
