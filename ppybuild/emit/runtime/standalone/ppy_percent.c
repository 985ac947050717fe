/* "…" % values, one conversion at a time. */
#include "ppy_digits.h"
#include "ppy_failure.h"
#include "ppy_format.h"
#include "ppy_number_text.h"
#include "ppy_spec.h"

typedef struct {
    ppy_spec spec; /* what padding asks of it */
    char letter;
} conversion;

static int64_t read_integer(ppy_text text, int64_t *at) {
    int64_t value = 0;
    for (; *at < text.bytes && text.data[*at] >= '0' && text.data[*at] <= '9'; ++*at) {
        if (value > INT32_MAX) ppy_raise(PPY_MemoryError, (ppy_text){0});
        value = value * 10 + (text.data[*at] - '0');
    }
    return value;
}

static conversion read(ppy_text text) {
    conversion made = {{.fill = PPY_TEXT(" "), .align = '>', .precision = -1}, text.data[text.bytes - 1]};
    ppy_spec *spec = &made.spec;
    bool left = false, zero = false;
    int64_t at = 1;
    for (;; at++) {
        const char flag = text.data[at];
        if (flag == '-') left = true;
        else if (flag == '+') spec->sign = '+';
        else if (flag == ' ') spec->sign = spec->sign ? spec->sign : ' ';
        else if (flag == '#') spec->alternate = true;
        else if (flag == '0') zero = true;
        else break;
    }
    spec->width = read_integer(text, &at);
    if (at < text.bytes && text.data[at] == '.') {
        at++;
        spec->precision = read_integer(text, &at);
    }
    if (left) {
        spec->align = '<';
    } else if (zero && made.letter != 's' && made.letter != 'r' && made.letter != 'a' && made.letter != 'c') {
        spec->align = '=';
        spec->fill = PPY_TEXT("0");
    }
    return made;
}

static ppy_text percent_float(const conversion *made, double value) {
    const int64_t precision = made->spec.precision;
    bool negative;
    const ppy_text text =
        ppy_float_styled(value, made->letter, precision < 0 ? 6 : precision, made->spec.alternate, false, false, &negative);
    ppy_number number = ppy_split_number(text);
    number.negative = negative;
    return ppy_pad_number(&number, &made->spec);
}

ppy_text ppy_percent_float(ppy_text text, double value) {
    const conversion made = read(text);
    return percent_float(&made, value);
}

ppy_text ppy_percent_int(ppy_text text, int64_t value) {
    const conversion made = read(text);
    const char letter = made.letter;
    if (letter == 'c') {
        if (value < 0 || value > 0x10FFFF) ppy_raise_ascii(PPY_OverflowError, "%c arg not in range(0x110000)");
        return ppy_pad(ppy_chr(value), &made.spec);
    }
    if (letter != 'd' && letter != 'i' && letter != 'u' && letter != 'o' && letter != 'x' && letter != 'X')
        return percent_float(&made, (double)value);
    ppy_number number = ppy_split_int(value, (uint32_t)letter, made.spec.alternate);
    const int64_t zeros = made.spec.precision - number.digits.length;
    const ppy_text parts[] = {ppy_repeat(PPY_TEXT("0"), zeros), number.digits};
    if (zeros > 0) number.digits = ppy_concat(parts, 2);
    return ppy_pad_number(&number, &made.spec);
}

ppy_text ppy_percent_text(ppy_text text, ppy_text value) {
    const conversion made = read(text);
    const int64_t precision = made.letter == 'c' ? -1 : made.spec.precision;
    const bool cut = precision >= 0 && precision < value.length;
    return ppy_pad(cut ? ppy_slice(value, 0, precision, 1) : value, &made.spec);
}
