#define _POSIX_C_SOURCE 200809L
#include "ppy_process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>

#include "ppy_failure.h"
#include "ppy_stream_state.h"
#include "ppy_unicode.h"

const ppy_text *ppy_arguments;
int64_t ppy_argument_count;
volatile sig_atomic_t ppy_interrupted;

static void interrupt(int number) {
    (void)number;
    ppy_interrupted = 1;
}

void ppy_raise_interrupt(void) {
    ppy_interrupted = 0;
    ppy_raise(PPY_KeyboardInterrupt, (ppy_text){0});
}

/* A signal that comes just before the wait is not missed: it is let in by the wait alone. */
void ppy_wait_for_input(void) {
    sigset_t interrupts, before;
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupts, &before);
    fd_set input;
    do {
        FD_ZERO(&input);
        FD_SET(0, &input);
    } while (!ppy_interrupted && pselect(1, &input, NULL, NULL, NULL, &before) < 0 && errno == EINTR);
    sigprocmask(SIG_SETMASK, &before, NULL);
    ppy_look_at_signals();
}

/* Bytes as the program sees them: what is not UTF-8 becomes U+DC80 to U+DCFF. */
static ppy_text decode(const char *argument) {
    const int64_t bytes = (int64_t)strlen(argument);
    char *data = malloc((size_t)(bytes * 3 + 1));
    if (!data) ppy_raise(PPY_MemoryError, (ppy_text){0});
    int64_t made = 0, wrong = 0;
    for (int64_t at = 0; at < bytes;) {
        const int64_t before = at;
        if (ppy_decode(argument, bytes, &at, &wrong) == PPY_VALID) {
            memcpy(data + made, argument + before, (size_t)(at - before));
            made += at - before;
        } else {
            made += ppy_encode(0xDC00 + (unsigned char)argument[at++], data + made);
        }
    }
    return ppy_text_of_bytes(data, made);
}

void ppy_start(int argc, char **argv) {
    struct sigaction action = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGPIPE, &action, NULL); /* a write that fails says so itself */
    sigaction(SIGXFSZ, &action, NULL);
    action.sa_handler = interrupt;
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler == SIG_DFL) sigaction(SIGINT, &action, NULL);
    ppy_streams_open();
    ppy_text *arguments = malloc((size_t)(argc + 1) * sizeof *arguments);
    if (!arguments) ppy_raise(PPY_MemoryError, (ppy_text){0});
    for (int i = 0; i < argc; i++) arguments[i] = decode(argv[i]);
    ppy_arguments = arguments;
    ppy_argument_count = argc;
}

int ppy_finish(void) { return ppy_streams_close() ? 0 : 120; }

static double seconds(clockid_t clock) {
    struct timespec now = {0, 0};
    clock_gettime(clock, &now);
    return (double)((int64_t)now.tv_sec * 1000000000 + now.tv_nsec) / 1e9;
}

double ppy_perf_counter(void) { return seconds(CLOCK_MONOTONIC); }

double ppy_time(void) { return seconds(CLOCK_REALTIME); }
