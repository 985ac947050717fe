/* What the runtime alone asks of the streams. */
#ifndef PPY_STREAM_STATE_H
#define PPY_STREAM_STATE_H

#include "ppy_text.h"

void ppy_streams_open(void);
bool ppy_streams_close(void);          /* writes what is buffered; false where that fails */
void ppy_flush_quietly(void);          /* both, standard error first, whatever comes of it */
void ppy_write_failure(ppy_text text); /* to standard error, whatever comes of it */
_Noreturn void ppy_raise_errno(int number);

#endif
