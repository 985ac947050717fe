/* input(): lines of standard input, decoded as CPython's incremental decoder does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ppy_failure.h"
#include "ppy_number_text.h"
#include "ppy_process.h"
#include "ppy_stream.h"
#include "ppy_stream_state.h"
#include "ppy_unicode.h"

#define CHUNK 8192

/* Bytes that were read: `data[from..checked]` is UTF-8, what follows is the start of a code point. */
static char *data;
static int64_t from, checked, used, room;
static bool ended;

static _Noreturn void raise_decoding(int64_t first, int64_t count, ppy_utf8 why) {
    static const ppy_text reasons[] = {
        [PPY_BAD_START] = PPY_TEXT("invalid start byte"),
        [PPY_BAD_CONTINUATION] = PPY_TEXT("invalid continuation byte"),
        [PPY_CUT] = PPY_TEXT("unexpected end of data"),
    };
    const int64_t position = first - checked; /* the decoder counts from what it has not taken */
    char digits[2];
    const unsigned char byte = (unsigned char)data[first];
    digits[0] = "0123456789abcdef"[byte >> 4];
    digits[1] = "0123456789abcdef"[byte & 15];
    const ppy_text one[] = {PPY_TEXT("byte 0x"), {digits, 2, 2}, PPY_TEXT(" in position "), ppy_str_int(position)};
    const ppy_text more[] = {PPY_TEXT("bytes in position "), ppy_str_int(position), PPY_TEXT("-"),
                             ppy_str_int(position + count - 1)};
    const ppy_text parts[] = {PPY_TEXT("'utf-8' codec can't decode "), ppy_concat(count == 1 ? one : more, 4),
                              PPY_TEXT(": "), reasons[why]};
    from = checked = used = 0;
    ppy_raise(PPY_UnicodeDecodeError, ppy_concat(parts, 4));
}

/* Moves `checked` over all that is UTF-8. */
static void check(void) {
    int64_t at = checked, wrong = 0;
    while (at < used) {
        const ppy_utf8 found = ppy_decode(data, used, &at, &wrong);
        if (found == PPY_CUT && !ended) break;
        if (found != PPY_VALID) raise_decoding(at, wrong, found);
    }
    checked = at;
}

/* Reads more. False at the end. */
static bool fill(void) {
    if (ended) return false;
    if (from) {
        memmove(data, data + from, (size_t)(used - from));
        checked -= from;
        used -= from;
        from = 0;
    }
    if (room - used < CHUNK) {
        room = used * 2 + CHUNK;
        char *more = realloc(data, (size_t)room);
        if (!more) ppy_raise(PPY_MemoryError, (ppy_text){0});
        data = more;
    }
    ssize_t count;
    ppy_wait_for_input();
    while ((count = read(0, data + used, CHUNK)) < 0) {
        if (errno != EINTR) ppy_raise_errno(errno);
        ppy_look_at_signals();
    }
    ended = count == 0;
    used += count;
    check();
    return !ended;
}

/* The line that begins at `from`, with its \n, the only end that standard input has on Linux;
 * false where there is nothing left. The text is gone when more is read. */
bool ppy_read_line(ppy_text *line) {
    int64_t looked = 0;
    const char *end;
    while (!(end = checked > from + looked ? memchr(data + from + looked, '\n', (size_t)(checked - from - looked)) : NULL)) {
        looked = checked - from;
        if (!fill()) break;
    }
    const int64_t bytes = end ? end - data - from + 1 : checked - from;
    if (bytes == 0) return false;
    *line = ppy_text_of_bytes(data + from, bytes);
    from += bytes;
    return true;
}

ppy_text ppy_read_one_line(void) {
    ppy_text line = {0};
    return ppy_read_line(&line) ? ppy_arena_copy(line) : line;
}

ppy_text ppy_read_all(void) {
    while (fill()) continue;
    const ppy_text all = ppy_text_of_bytes(data + from, checked - from);
    from = checked;
    return all.bytes ? ppy_arena_copy(all) : (ppy_text){0};
}

ppy_text ppy_input(ppy_text prompt) {
    const bool terminal = isatty(0) && isatty(1);
    ppy_flush(PPY_STDERR);
    if (terminal) {
        ppy_flush(PPY_STDOUT);
        ppy_write(PPY_STDERR, prompt);
        ppy_flush(PPY_STDERR);
    } else {
        ppy_write(PPY_STDOUT, prompt);
        ppy_flush(PPY_STDOUT);
    }
    ppy_text line;
    const bool found = ppy_read_line(&line);
    if (terminal) ended = false; /* after Ctrl-D one may go on */
    if (found) {
        const int64_t end = line.bytes && line.data[line.bytes - 1] == '\n';
        return ppy_arena_copy((ppy_text){line.data, line.bytes - end, line.length - end});
    }
    if (terminal) ppy_raise(PPY_EOFError, (ppy_text){0});
    ppy_raise(PPY_EOFError, PPY_TEXT("EOF when reading a line"));
}
