/* What a program without Python is made of, beside its kernels: everything of this folder.
 *
 *     int main(int argc, char **argv) {
 *         ppy_start(argc, argv);
 *         m_program();                   // the module-level code
 *         return ppy_finish();
 *     }
 *
 * Every function here either does what CPython 3.11 does, or leaves through `ppy_raise`. */
#ifndef PPY_STANDALONE_H
#define PPY_STANDALONE_H

#include "ppy_class.h"
#include "ppy_dict.h"
#include "ppy_failure.h"
#include "ppy_format.h"
#include "ppy_heapq.h"
#include "ppy_norm.h"
#include "ppy_number_text.h"
#include "ppy_parse.h"
#include "ppy_process.h"
#include "ppy_set.h"
#include "ppy_stream.h"
#include "ppy_text.h"
#include "ppy_text_methods.h"

#endif
