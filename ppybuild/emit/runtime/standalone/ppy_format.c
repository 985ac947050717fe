#include "ppy_format.h"

#include "ppy_digits.h"
#include "ppy_failure.h"
#include "ppy_number_text.h"
#include "ppy_spec.h"
#include "ppy_unicode.h"

static _Noreturn void refuse(const char *message) { ppy_raise_ascii(PPY_ValueError, message); }

/* str */

ppy_text ppy_format_text(ppy_text value, ppy_text text) {
    if (text.bytes == 0) return value;
    const ppy_spec spec = ppy_read_spec(text, 's', '<', PPY_TEXT("str"));
    if (spec.type != 's') ppy_refuse_type(spec.type, PPY_TEXT("str"));
    if (spec.sign == ' ') refuse("Space not allowed in string format specifier");
    if (spec.sign) refuse("Sign not allowed in string format specifier");
    if (spec.z) refuse("Negative zero coercion (z) not allowed in string format specifier");
    if (spec.alternate) refuse("Alternate form (#) not allowed in string format specifier");
    if (spec.align == '=') refuse("'=' alignment not allowed in string format specifier");
    const bool cut = spec.precision >= 0 && spec.precision < value.length;
    return ppy_pad(cut ? ppy_slice(value, 0, spec.precision, 1) : value, &spec);
}

/* float */

ppy_text ppy_float_styled(double value, char style, int64_t precision, bool alternate, bool point_zero, bool z, bool *negative) {
    const char letter = (char)(style | 0x20);
    ppy_layout layout = {.point = alternate, .point_zero = point_zero, .upper = style != letter};
    ppy_decimal decimal;
    if (letter == 'f') {
        decimal = ppy_rounded_places(value, precision);
        layout.form = PPY_FIXED;
        layout.digits = decimal.point + precision;
    } else {
        const int64_t digits = letter == 'e' ? precision + 1 : precision ? precision : 1;
        decimal = ppy_rounded_digits(value, digits);
        layout.form = letter == 'e' ? PPY_EXPONENT : PPY_EITHER;
        layout.exponent_above = digits - point_zero;
        layout.digits = letter == 'e' || alternate ? digits : 0;
    }
    const bool zero = decimal.kind == PPY_FINITE && decimal.count == 1 && decimal.digits[0] == '0';
    *negative = decimal.negative && decimal.kind != PPY_NAN && !(z && zero);
    char *to = ppy_arena_allocate(ppy_layout_bytes(&decimal, &layout));
    const char *end = ppy_lay_out(&decimal, &layout, to);
    return (ppy_text){to, end - to, end - to};
}

/* Where neither type nor precision is said: as repr. */
static ppy_text shortest(double value, const ppy_spec *spec, bool *negative) {
    char *digits = ppy_arena_allocate(PPY_SHORTEST_DIGITS), *to = ppy_arena_allocate(PPY_FLOAT_BYTES);
    const ppy_decimal decimal = ppy_shortest(value, digits);
    const ppy_layout layout = {.form = PPY_EITHER, .exponent_above = 16, .point = spec->alternate, .point_zero = true};
    *negative = decimal.negative && decimal.kind != PPY_NAN && !(spec->z && value == 0);
    const char *end = ppy_lay_out(&decimal, &layout, to);
    return (ppy_text){to, end - to, end - to};
}

static ppy_text format_float(double value, const ppy_spec *spec) {
    if (spec->precision > INT32_MAX) refuse("precision too big");
    const bool percent = spec->type == '%', open = spec->type == 0;
    const char style = percent ? 'f' : open || spec->type == 'n' ? 'g' : (char)spec->type;
    bool negative;
    ppy_text text = open && spec->precision < 0
                        ? shortest(value, spec, &negative)
                        : ppy_float_styled(percent ? value * 100 : value, style, spec->precision < 0 ? 6 : spec->precision,
                                           spec->alternate, open, spec->z, &negative);
    if (percent) {
        const ppy_text parts[] = {text, PPY_TEXT("%")};
        text = ppy_concat(parts, 2);
    }
    ppy_number number = ppy_split_number(text);
    number.negative = negative;
    return ppy_pad_number(&number, spec);
}

static bool is_float_type(uint32_t type) {
    switch (type) {
        case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case '%':
            return true;
        default:
            return false;
    }
}

ppy_text ppy_format_float(double value, ppy_text text) {
    if (text.bytes == 0) return ppy_str_float(value);
    const ppy_spec spec = ppy_read_spec(text, 0, '>', PPY_TEXT("float"));
    if (spec.type && spec.type != 'n' && !is_float_type(spec.type)) ppy_refuse_type(spec.type, PPY_TEXT("float"));
    return format_float(value, &spec);
}

/* int and bool */

ppy_number ppy_split_int(int64_t value, uint32_t type, bool alternate) {
    const unsigned base = type == 'b' ? 2 : type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10;
    char *digits = ppy_arena_allocate(PPY_INT_DIGITS);
    const int count = ppy_int_digits(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, base, digits);
    if (type == 'X')
        for (int i = 0; i < count; i++)
            if (digits[i] >= 'a') digits[i] = (char)(digits[i] - 'a' + 'A');
    const ppy_text prefix = type == 'b' ? PPY_TEXT("0b") : type == 'o' ? PPY_TEXT("0o") : type == 'x' ? PPY_TEXT("0x") : PPY_TEXT("0X");
    return (ppy_number){.negative = value < 0, .prefix = alternate && base != 10 ? prefix : (ppy_text){0},
                        .digits = {digits, count, count}};
}

static ppy_text format_character(int64_t value, const ppy_spec *spec) {
    if (spec->sign) refuse("Sign not allowed with integer format specifier 'c'");
    if (spec->alternate) refuse("Alternate form (#) not allowed with integer format specifier 'c'");
    if (value < 0 || value > 0x10FFFF) ppy_raise_ascii(PPY_OverflowError, "%c arg not in range(0x110000)");
    const ppy_number number = {.rest = ppy_chr(value)};
    return ppy_pad_number(&number, spec);
}

static ppy_text format_int(int64_t value, ppy_text text, ppy_text type_name) {
    const ppy_spec spec = ppy_read_spec(text, 'd', '>', type_name);
    if (is_float_type(spec.type)) return format_float((double)value, &spec);
    switch (spec.type) {
        case 'b': case 'c': case 'd': case 'n': case 'o': case 'x': case 'X':
            break;
        default:
            ppy_refuse_type(spec.type, type_name);
    }
    if (spec.precision >= 0) refuse("Precision not allowed in integer format specifier");
    if (spec.z) refuse("Negative zero coercion (z) not allowed in integer format specifier");
    if (spec.type == 'c') return format_character(value, &spec);
    const ppy_number number = ppy_split_int(value, spec.type, spec.alternate);
    return ppy_pad_number(&number, &spec);
}

ppy_text ppy_format_int(int64_t value, ppy_text text) {
    return text.bytes ? format_int(value, text, PPY_TEXT("int")) : ppy_str_int(value);
}

ppy_text ppy_format_bool(bool value, ppy_text text) {
    return text.bytes ? format_int(value, text, PPY_TEXT("bool")) : ppy_str_bool(value);
}
