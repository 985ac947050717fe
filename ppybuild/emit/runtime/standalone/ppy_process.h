/* The process: start, arguments, clocks, signals, end. */
#ifndef PPY_PROCESS_H
#define PPY_PROCESS_H

#include <signal.h>

#include "ppy_text.h"

void ppy_start(int argc, char **argv);
/* Writes what is buffered. The exit status: 0, or CPython's 120 where that fails. */
int ppy_finish(void);

/* sys.argv; bytes that are not UTF-8 are lone surrogates. */
extern const ppy_text *ppy_arguments;
extern int64_t ppy_argument_count;

double ppy_perf_counter(void); /* time.perf_counter(), time.monotonic(): seconds */
double ppy_time(void);         /* time.time(): seconds since 1970 */

/* Ctrl-C sets the flag; ask often, in loops too. Raises KeyboardInterrupt. */
extern volatile sig_atomic_t ppy_interrupted;
_Noreturn void ppy_raise_interrupt(void);
static inline void ppy_look_at_signals(void) {
    if (__builtin_expect(ppy_interrupted, 0)) ppy_raise_interrupt();
}

/* Waits until standard input can be read. Raises KeyboardInterrupt. */
void ppy_wait_for_input(void);

#endif
