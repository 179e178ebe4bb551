/* A check that says where it failed and ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include "nrt/nrt_status.h"

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "%s:%d: not true: %s; last error: %s\n", __FILE__, __LINE__,          \
                    #condition, neffload_last_error());                                           \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

/* The whole file; its length goes to `size`. */
static inline unsigned char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    long length = ftell(file);
    CHECK(length > 0 && fseek(file, 0, SEEK_SET) == 0);
    unsigned char *bytes = (unsigned char *)malloc((size_t)length);
    CHECK(bytes != NULL && fread(bytes, 1, (size_t)length, file) == (size_t)length);
    fclose(file);
    *size = (size_t)length;
    return bytes;
}

#endif
