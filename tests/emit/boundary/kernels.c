/* Kernels as the printer writes them, by hand: what crosses the boundary, both ways. */
#include "ppy_wrap.h"

static int k_m_add(ppy_run *run, int64_t a, int64_t b, int64_t *r0) {
    (void)run;
    return ppy_checked_add_i64(a, b, r0) ? PPY_OK : PPY_ABANDON;
}

static int k_m_half(ppy_run *run, double x, double *r0) {
    (void)run;
    *r0 = x / 2.0;
    return PPY_OK;
}

static int k_m_invert(ppy_run *run, bool flag, bool *r0) {
    (void)run;
    *r0 = !flag;
    return PPY_OK;
}

static int k_m_nothing(ppy_run *run) {
    (void)run;
    return PPY_OK;
}

static int k_m_nest(ppy_run *run, int64_t i, double x, bool flag, double *r0, bool *r1,
                    int64_t *r2) {
    (void)run;
    *r0 = x;
    *r1 = flag;
    *r2 = i;
    return PPY_OK;
}

static int k_m_total(ppy_run *run, ppy_f64 data, double *r0) {
    (void)run;
    *r0 = 0.0;
    for (int64_t i = 0; i < data.length; i++) *r0 += data.data[i];
    return PPY_OK;
}

static int k_m_total__bytes(ppy_run *run, ppy_u8 data, int64_t *r0) {
    (void)run;
    *r0 = 0;
    for (int64_t i = 0; i < data.length; i++) *r0 += data.data[i];
    return PPY_OK;
}

/* Adds `a` to every element of both, and fails on overflow after it has written. */
static int k_m_accumulate(ppy_run *run, ppy_i64 out, ppy_i64 other, int64_t a) {
    if (!ppy_save(run, out.data, (size_t)out.length * sizeof *out.data)) return PPY_ABANDON;
    for (int64_t i = 0; i < out.length; i++)
        if (!ppy_checked_add_i64(out.data[i], a, &out.data[i])) return PPY_ABANDON;
    if (!ppy_save(run, other.data, (size_t)other.length * sizeof *other.data)) return PPY_ABANDON;
    for (int64_t i = 0; i < other.length; i++)
        if (!ppy_checked_add_i64(other.data[i], a, &other.data[i])) return PPY_ABANDON;
    return PPY_OK;
}

static int k_m_down(ppy_run *run, int64_t a, int64_t *r0) {
    if (a == 0) {
        *r0 = 0;
        return PPY_OK;
    }
    if (run->depth <= 0) return PPY_ABANDON;
    run->depth--;
    int64_t below = 0;
    const int status = k_m_down(run, a - 1, &below);
    run->depth++;
    *r0 = below + 1;
    return status;
}

/* Writes, then turns until a signal handler raises. */
static int k_m_spin(ppy_run *run, ppy_i64 out) {
    if (!ppy_save(run, out.data, (size_t)out.length * sizeof *out.data)) return PPY_ABANDON;
    if (out.length > 0) out.data[0] = 1;
    for (;;)
        if (--run->ticks <= 0 && ppy_poll(run) != PPY_OK) return PPY_RAISED;
}

#define SET(name, type) \
    static int k_m_set__##name(ppy_run *run, ppy_##name out, int64_t a, type value) { \
        (void)run; \
        int64_t at; \
        if (!ppy_checked_index(a, out.length, &at)) return PPY_ABANDON; \
        out.data[at] = value; \
        return PPY_OK; \
    }
SET(f64, double)
SET(i64, int64_t)
SET(f32, double)
SET(i32, int64_t)
SET(u8, int64_t)
SET(i8, int64_t)

/* Gives 1, where its Python body gives 0. */
static int k_m_caller(ppy_run *run, int64_t *r0) {
    (void)run;
    *r0 = 1;
    return PPY_OK;
}

static int k_m_callee(ppy_run *run, int64_t a, int64_t b, int64_t c, int64_t *r0) {
    (void)run;
    *r0 = a * b * c;
    return PPY_OK;
}
