/* Output, in CPython's two layers: text that is pending, as TextIOWrapper has it, before a buffer
 * of the size that the file system proposes, as BufferedWriter has it. */
#include "ppy_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ppy_failure.h"
#include "ppy_number_text.h"
#include "ppy_process.h"
#include "ppy_stream_state.h"
#include "ppy_unicode.h"

#define CHUNK 8192 /* TextIOWrapper's */

typedef struct {
    int descriptor;
    bool open;  /* it was when the program started; else nothing is written, as sys.stdout is None */
    bool lines; /* a line's end writes everything */
    char pending[CHUNK];
    int64_t pending_bytes;
    char *buffer;
    int64_t size, used;
} output;

static output outputs[] = {[PPY_STDOUT] = {.descriptor = 1}, [PPY_STDERR] = {.descriptor = 2}};

void ppy_streams_open(void) {
    for (int i = 0; i < 2; i++) {
        output *out = &outputs[i];
        struct stat about;
        out->open = fstat(out->descriptor, &about) == 0;
        out->lines = i == PPY_STDERR || isatty(out->descriptor);
        out->size = out->open && about.st_blksize > 1 ? about.st_blksize : CHUNK;
        out->buffer = malloc((size_t)out->size);
        if (!out->buffer) out->open = false;
    }
}

/* The layers give 0, or errno. What could not be written stays in the buffer. */

/* Writes bytes, or some of them: how many is added to `*done`. */
static int write_some(int descriptor, const char *data, int64_t bytes, int64_t *done) {
    for (;;) {
        const ssize_t written = write(descriptor, data, (size_t)bytes);
        if (written >= 0) return (void)(*done += written), 0;
        if (errno != EINTR) return errno;
        ppy_look_at_signals();
    }
}

static int flush_buffer(output *out) {
    int64_t done = 0;
    int failed = 0;
    while (done < out->used && !failed) failed = write_some(out->descriptor, out->buffer + done, out->used - done, &done);
    memmove(out->buffer, out->buffer + done, (size_t)(out->used - done));
    out->used -= done;
    return failed;
}

static int into_buffer(output *out, const char *data, int64_t bytes) {
    if (bytes > out->size - out->used) {
        int failed = flush_buffer(out);
        while (bytes > out->size && !failed) {
            int64_t done = 0;
            failed = write_some(out->descriptor, data, bytes, &done);
            data += done;
            bytes -= done;
        }
        if (failed) return failed;
    }
    memcpy(out->buffer + out->used, data, (size_t)bytes);
    out->used += bytes;
    return 0;
}

static int flush_pending(output *out) {
    const int64_t bytes = out->pending_bytes;
    out->pending_bytes = 0;
    return bytes ? into_buffer(out, out->pending, bytes) : 0;
}

static int flush(output *out) {
    const int failed = flush_pending(out);
    return failed ? failed : flush_buffer(out);
}

static int put(output *out, ppy_text text) {
    if (!out->open || text.bytes == 0) return 0;
    int failed = out->pending_bytes + text.bytes > CHUNK ? flush_pending(out) : 0;
    if (failed) return failed;
    if (text.bytes >= CHUNK) {
        failed = into_buffer(out, text.data, text.bytes);
    } else {
        memcpy(out->pending + out->pending_bytes, text.data, (size_t)text.bytes);
        out->pending_bytes += text.bytes;
        if (out->pending_bytes >= CHUNK) failed = flush_pending(out);
    }
    const bool ends = out->lines && (memchr(text.data, '\n', (size_t)text.bytes) || memchr(text.data, '\r', (size_t)text.bytes));
    return failed || !ends ? failed : flush(out);
}

/* What cannot be written as UTF-8. */

static bool has_surrogate(ppy_text text) {
    if (text.bytes == text.length) return false;
    for (int64_t at = 0; at < text.bytes;)
        if (ppy_is_surrogate(ppy_next(text, &at))) return true;
    return false;
}

static _Noreturn void raise_encoding(ppy_text text) {
    int64_t first = 0, last = 0, index = 0;
    ppy_text shown = {0};
    for (int64_t at = 0; at < text.bytes; index++) {
        const int64_t from = at;
        if (!ppy_is_surrogate(ppy_next(text, &at))) {
            if (shown.bytes) break;
            continue;
        }
        if (!shown.bytes) {
            first = index;
            shown = (ppy_text){text.data + from, at - from, 1};
        }
        last = index;
    }
    if (first == last) {
        const ppy_text parts[] = {PPY_TEXT("'utf-8' codec can't encode character "), ppy_repr_text(shown),
                                  PPY_TEXT(" in position "), ppy_str_int(first), PPY_TEXT(": surrogates not allowed")};
        ppy_raise(PPY_UnicodeEncodeError, ppy_concat(parts, 5));
    }
    const ppy_text parts[] = {PPY_TEXT("'utf-8' codec can't encode characters in position "), ppy_str_int(first),
                              PPY_TEXT("-"), ppy_str_int(last), PPY_TEXT(": surrogates not allowed")};
    ppy_raise(PPY_UnicodeEncodeError, ppy_concat(parts, 5));
}

/* With surrogates as `\udc80`. */
static ppy_text escape_surrogates(ppy_text text) {
    ppy_text *parts = ppy_arena_allocate(text.length * (int64_t)sizeof *parts);
    int64_t count = 0;
    for (int64_t at = 0; at < text.bytes;) {
        const int64_t from = at;
        const bool surrogate = ppy_is_surrogate(ppy_next(text, &at));
        const ppy_text one = {text.data + from, at - from, 1};
        parts[count++] = surrogate ? ppy_ascii(one) : one;
    }
    return ppy_concat(parts, count);
}

void ppy_raise_errno(int number) {
    const char *said = strerror(number);
    const ppy_text parts[] = {PPY_TEXT("[Errno "), ppy_str_int(number), PPY_TEXT("] "),
                              ppy_text_of_bytes(said, (int64_t)strlen(said))};
    ppy_raise(number == EPIPE || number == ESHUTDOWN ? PPY_BrokenPipeError : PPY_OSError, ppy_concat(parts, 4));
}

void ppy_write(ppy_stream stream, ppy_text text) {
    output *out = &outputs[stream];
    if (out->open && has_surrogate(text)) {
        if (stream == PPY_STDOUT) raise_encoding(text);
        text = escape_surrogates(text);
    }
    const int failed = put(out, text);
    if (failed) ppy_raise_errno(failed);
}

void ppy_flush(ppy_stream stream) {
    const int failed = outputs[stream].open ? flush(&outputs[stream]) : 0;
    if (failed) ppy_raise_errno(failed);
}

void ppy_print(const ppy_text *parts, int64_t count, ppy_text separator, ppy_text end, ppy_stream stream, bool flushed) {
    if (!outputs[stream].open) stream = PPY_STDOUT; /* sys.stderr is None, and `file=None` is standard output */
    for (int64_t i = 0; i < count; i++) {
        if (i) ppy_write(stream, separator);
        ppy_write(stream, parts[i]);
    }
    ppy_write(stream, end);
    if (flushed) ppy_flush(stream);
}

void ppy_print_line(ppy_text text) {
    ppy_write(PPY_STDOUT, text);
    ppy_write(PPY_STDOUT, PPY_TEXT("\n"));
}

void ppy_flush_quietly(void) {
    if (outputs[PPY_STDERR].open) flush(&outputs[PPY_STDERR]);
    if (outputs[PPY_STDOUT].open) flush(&outputs[PPY_STDOUT]);
}

void ppy_write_failure(ppy_text text) { put(&outputs[PPY_STDERR], has_surrogate(text) ? escape_surrogates(text) : text); }

bool ppy_streams_close(void) {
    ppy_flush_quietly();
    const int out = outputs[PPY_STDOUT].open ? flush(&outputs[PPY_STDOUT]) : 0;
    if (out) {
        const char *said = strerror(out);
        const ppy_text parts[] = {
            PPY_TEXT("Exception ignored in: <_io.TextIOWrapper name='<stdout>' mode='w' encoding='utf-8'>\n"),
            out == EPIPE ? PPY_TEXT("BrokenPipeError: [Errno ") : PPY_TEXT("OSError: [Errno "),
            ppy_str_int(out), PPY_TEXT("] "), ppy_text_of_bytes(said, (int64_t)strlen(said)), PPY_TEXT("\n")};
        ppy_write_failure(ppy_concat(parts, 6));
    }
    const int failure = outputs[PPY_STDERR].open ? flush(&outputs[PPY_STDERR]) : 0;
    return !out && !failure;
}
