#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Loads the file's bytes in `memory`; prints nothing. 0, or the runtime's status number. */
int neffload_check(const uint8_t *file, size_t file_bytes, uint8_t *memory, size_t memory_bytes, uint32_t *cores);

int main(int argc, char **argv) {
    static uint8_t memory[512 << 10];
    FILE *in = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!in) return 2;
    fseek(in, 0, SEEK_END);
    size_t bytes = (size_t)ftell(in);
    rewind(in);
    uint8_t *file = malloc(bytes);
    if (!file || fread(file, 1, bytes, in) != bytes) return 2;
    uint32_t cores = 0;
    int status = neffload_check(file, bytes, memory, sizeof memory, &cores);
    printf("status %d, %u cores\n", status, cores);
    free(file);
    return status;
}
