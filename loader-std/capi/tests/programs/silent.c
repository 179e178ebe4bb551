/* Refusals that cannot be printed: standard error is full, closed, or a pipe that nobody reads. */
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "nrt/nrt.h"
#include "check.h"

int main(int count, char **arguments) {
    CHECK(count == 2);
    switch (arguments[1][0]) {
    case 'f':
        CHECK(freopen("/dev/full", "w", stderr) != NULL);
        break;
    case 'c':
        CHECK(close(2) == 0);
        break;
    default: {
        int ends[2];
        CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
        CHECK(pipe(ends) == 0 && close(ends[0]) == 0 && dup2(ends[1], 2) == 2);
    }
    }
    nrt_model_t *model = NULL;
    /* By exit status: a failed check could not say where. */
    if (nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") != NRT_SUCCESS) return 2;
    if (nrt_load("abc", 3, -1, -1, &model) != NRT_INVALID) return 3;
    if (strstr(neffload_last_error(), "nrt_load") == NULL) return 4;
    if (nrt_unload(NULL) != NRT_INVALID_HANDLE) return 5;
    nrt_close();
    puts("done");
    return 0;
}
