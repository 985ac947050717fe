/* Python exceptions: raised in one way, caught by `ppy_try`, else the end of the program.
 *
 * Where no handler is left, `ppy_raise` writes what is buffered for both streams, then
 * what CPython writes where it has no source at hand,
 *
 *     Traceback (most recent call last):
 *       File "app/main.py", line 12, in <module>
 *       File "app/main.py", line 3, in ratio
 *     ZeroDivisionError: float division by zero
 *
 * and ends with status 1; SystemExit and KeyboardInterrupt end as they do in CPython. */
#ifndef PPY_FAILURE_H
#define PPY_FAILURE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppy_text.h"

/* Name, and what it is a kind of. */
#define PPY_EXCEPTIONS(X) \
    X(BaseException, BaseException) \
    X(SystemExit, BaseException) \
    X(KeyboardInterrupt, BaseException) \
    X(Exception, BaseException) \
    X(ArithmeticError, Exception) \
    X(OverflowError, ArithmeticError) \
    X(ZeroDivisionError, ArithmeticError) \
    X(FloatingPointError, ArithmeticError) \
    X(AssertionError, Exception) \
    X(AttributeError, Exception) \
    X(BufferError, Exception) \
    X(EOFError, Exception) \
    X(LookupError, Exception) \
    X(IndexError, LookupError) \
    X(KeyError, LookupError) \
    X(MemoryError, Exception) \
    X(NameError, Exception) \
    X(UnboundLocalError, NameError) \
    X(OSError, Exception) \
    X(BrokenPipeError, OSError) \
    X(FileNotFoundError, OSError) \
    X(TimeoutError, OSError) \
    X(RuntimeError, Exception) \
    X(NotImplementedError, RuntimeError) \
    X(RecursionError, RuntimeError) \
    X(StopIteration, Exception) \
    X(SyntaxError, Exception) \
    X(TypeError, Exception) \
    X(ValueError, Exception) \
    X(UnicodeError, ValueError) \
    X(UnicodeDecodeError, UnicodeError) \
    X(UnicodeEncodeError, UnicodeError)

#define PPY_EXCEPTION_MEMBER(name, parent) PPY_##name,
typedef enum { PPY_EXCEPTIONS(PPY_EXCEPTION_MEMBER) PPY_EXCEPTION_COUNT, PPY_EXCEPTION_LAST = INT32_MAX } ppy_exception;

/* The program's own, numbered from PPY_EXCEPTION_COUNT on. */
typedef struct {
    ppy_text name, shown; /* `shown` in tracebacks: with its module, where that is not the main one */
    int32_t parent;
} ppy_exception_row;
extern const ppy_exception_row *ppy_own_exceptions;

/* A running function, for tracebacks and the recursion limit. It is on the C stack:
 *
 *     ppy_text kept[2] = {{0}};                       // slots of the function's str variables
 *     ppy_frame frame = {.file = "app/main.py", .function = "ratio", .kept = kept, .kept_count = 2};
 *     ppy_frame_enter(&frame);
 *     frame.line = 3;                                 // before what may raise
 *     …
 *     ppy_frame_leave(&frame);                        // drops the slots
 *
 * Functions that cannot raise need none. */
typedef struct ppy_frame {
    const char *file;     /* UTF-8, as the traceback shows it */
    const char *function; /* `<module>` for module-level code */
    ppy_text *kept;       /* dropped where the frame is left, by `ppy_frame_leave` or by raising */
    int64_t kept_count;
    int32_t line;
    int32_t depth;        /* set by `ppy_frame_enter` */
    struct ppy_frame *caller;
} ppy_frame;

extern ppy_frame *ppy_top_frame;

/* As sys.getrecursionlimit(). */
#define PPY_RECURSION_LIMIT 1000

_Noreturn void ppy_raise_recursion(void);

static inline void ppy_frame_enter(ppy_frame *frame) {
    frame->caller = ppy_top_frame;
    frame->depth = ppy_top_frame ? ppy_top_frame->depth + 1 : 1;
    if (__builtin_expect(frame->depth > PPY_RECURSION_LIMIT, 0)) ppy_raise_recursion();
    ppy_top_frame = frame;
}

static inline void ppy_frame_leave(ppy_frame *frame) {
    for (int64_t i = 0; i < frame->kept_count; i++) ppy_drop(&frame->kept[i]);
    ppy_top_frame = frame->caller;
}

/* Raising. The message is copied; one without bytes is none: `ValueError` alone. */
_Noreturn void ppy_raise(ppy_exception kind, ppy_text message);
_Noreturn void ppy_raise_ascii(ppy_exception kind, const char *message);
_Noreturn void ppy_raise_memory(void); /* a MemoryError */
/* KeyError(key) shows the repr of its key, but str(error) too: pass the repr. */

/* An integer that needs more than 64 bits, which no handler of the program may catch: one
 * line after the traceback, status 1. */
_Noreturn void ppy_raise_integer(void);
/* The same, of anything else that needs Python: "a power is a complex number". */
_Noreturn void ppy_raise_beyond(const char *what);

/* sys.exit(status), sys.exit(), sys.exit("text"): a SystemExit that can be caught. */
_Noreturn void ppy_exit(int64_t status);
_Noreturn void ppy_exit_text(ppy_text message); /* to standard error; status 1 */

bool ppy_is_kind_of(ppy_exception kind, ppy_exception ancestor);

/* Catching.
 *
 *     ppy_handler handler;
 *     if (PPY_TRY(&handler)) {
 *         …                                        // the body
 *         ppy_try_end(&handler);                   // before any way out of the body
 *     } else if (ppy_caught_is(PPY_ZeroDivisionError)) {
 *         …                                        // ppy_caught_text() is str(error)
 *         ppy_caught_end();
 *     } else {
 *         ppy_reraise();
 *     }
 *
 * C variables that the body changes and that are read after it must be volatile (setjmp).
 * Where it jumps back, frames and their slots and the arena are as `PPY_TRY` found them. */
typedef struct {
    const char *file, *function;
    int32_t line;
} ppy_place;

typedef struct {
    ppy_exception kind;
    const char *beyond; /* `ppy_raise_beyond`: no handler may catch it */
    int64_t status;    /* of a SystemExit */
    ppy_text message;  /* a slot */
    ppy_place *places; /* of the frames that were left, the outermost first */
    int64_t place_count;
    int32_t line;      /* at which the frame was that caught it */
} ppy_error;

/* Objects whose repr is being made, the innermost first: `ppy_dataclass_repr`. */
typedef struct ppy_showing {
    const void *object;
    const struct ppy_showing *outer;
} ppy_showing;
extern const ppy_showing *ppy_shown_now;

typedef struct ppy_handler {
    jmp_buf at;
    ppy_frame *frame;
    ppy_mark mark;
    const ppy_showing *showing;
    struct ppy_handler *outer, *caught_before;
    ppy_error error; /* once it has caught one */
} ppy_handler;

#define PPY_TRY(handler) (ppy_try_begin(handler), setjmp((handler)->at) == 0)
void ppy_try_begin(ppy_handler *handler);
void ppy_try_end(ppy_handler *handler);
bool ppy_caught_is(ppy_exception kind); /* as isinstance */
ppy_text ppy_caught_text(void);         /* str(error), in the arena */
ppy_text ppy_caught_name(void);         /* type(error).__name__ */
ppy_text ppy_caught_repr(void);         /* repr(error): ValueError('x') */
void ppy_caught_end(void);
_Noreturn void ppy_reraise(void);

#endif
