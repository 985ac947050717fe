/* print and input. Output is buffered where CPython buffers it: what one sees of both streams
 * in one pipe, or on a terminal, is in CPython's order. A write that fails is an OSError. */
#ifndef PPY_STREAM_H
#define PPY_STREAM_H

#include "ppy_text.h"

typedef enum { PPY_STDOUT, PPY_STDERR } ppy_stream;

/* print(*parts, sep=separator, end=end, file=stream, flush=flush) */
void ppy_print(const ppy_text *parts, int64_t count, ppy_text separator, ppy_text end, ppy_stream stream, bool flush);
/* print(text) */
void ppy_print_line(ppy_text text);
/* stream.write(text) and stream.flush() */
void ppy_write(ppy_stream stream, ppy_text text);
void ppy_flush(ppy_stream stream);
/* input(prompt); EOFError. `prompt` without bytes prints none. The line is in the arena. */
ppy_text ppy_input(ppy_text prompt);
/* sys.stdin: the next line with its end, false where there is none; gone when more is read. */
bool ppy_read_line(ppy_text *line);
ppy_text ppy_read_one_line(void); /* sys.stdin.readline() */
ppy_text ppy_read_all(void);      /* sys.stdin.read() */

#endif
