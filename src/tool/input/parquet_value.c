/* SPDX-License-Identifier: MIT
 * Reads text as a value of a Parquet column. Text that is not exactly a value is an error, since an
 * answer for a guessed value would mislead the user. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "file.h"
#include "output/say.h"
#include "parquet.h"

enum { SHOWN = 60, MOST_SCALE = 18, NUMBER_TEXT = 400 };

static char sentence[2 * SHOWN + 300];

/* Return: the message "'12x' is not a value of type INT32: ...". */
static const char *is_none(const struct weir_parquet_column *column, struct iovec text,
                           const char *why)
{
	const char *logical = weir_parquet_logical_name(column->logical);
	snprintf(sentence, sizeof sentence, "'%.*s%s' is not a value of type %s%s%s: %s",
	         (int)(text.iov_len < SHOWN ? text.iov_len : SHOWN), (const char *)text.iov_base,
	         text.iov_len < SHOWN ? "" : "...", weir_parquet_type_name(column->type),
	         logical ? " " : "", logical ? logical : "", why);
	return sentence;
}

static void add_hash(struct parquet_value *out, const struct weir_parquet_column *column,
                     const void *value, size_t bytes)
{
	if (weir_parquet_hash(&out->hash[out->n], column->type, value, bytes) == 0)
		out->n++;
}

/* ---- integers ---- */

/* Reads a sign and digits, and if @scale is above 0 a point. At scale 2, 1.5 is 150, and all digits
 * after the first two decimals must be zeros. Return: false for any other text, and if the number
 * exceeds 64 bits. */
static bool read_digits(struct iovec text, int scale, bool *negative, uint64_t *out)
{
	const char *at = text.iov_base, *end = at + text.iov_len;
	bool digits = false, point = false;
	uint64_t value = 0;
	*negative = at < end && *at == '-';
	at += at < end && (*at == '-' || *at == '+');
	for (; at < end; at++) {
		if (*at == '.' && scale > 0 && !point) {
			point = true;
			continue;
		}
		if (*at < '0' || *at > '9')
			return false;
		digits = true;
		if (point && scale == 0) {
			if (*at != '0')
				return false;
			continue;
		}
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
			return false;
		scale -= point;
	}
	for (; scale > 0; scale--)
		if (__builtin_mul_overflow(value, 10, &value))
			return false;
	*out = value;
	return digits;
}

static const char *is_no_integer(const struct weir_parquet_column *column, struct iovec text,
                                 int scale, uint64_t most, bool sign)
{
	char why[100];
	if (scale)
		snprintf(why, sizeof why, "a number of up to %d decimals", scale);
	else if (sign)
		snprintf(why, sizeof why, "a whole number from -%llu to %llu",
		         (unsigned long long)most + 1, (unsigned long long)most);
	else
		snprintf(why, sizeof why, "a whole number from 0 to %llu",
		         (unsigned long long)most);
	return is_none(column, text, why);
}

static const char *put_integer(const struct weir_parquet_column *column, struct iovec text,
                               int scale, struct parquet_value *out)
{
	const bool wide = column->type == WEIR_PARQUET_INT64;
	const bool sign = column->logical != WEIR_PARQUET_UNSIGNED;
	const uint64_t most = (wide ? UINT64_MAX : UINT32_MAX) >> sign;
	bool negative;
	uint64_t value;
	if (!read_digits(text, scale, &negative, &value) ||
	    value > most + (sign && negative) || (!sign && negative && value)) {
		return is_no_integer(column, text, scale, most, sign);
	}
	value = negative ? 0 - value : value;
	const uint32_t low = (uint32_t)value;
	if (wide)
		add_hash(out, column, &value, sizeof value);
	else
		add_hash(out, column, &low, sizeof low);
	return NULL;
}

/* Return: the days since 1970-01-01 in the Gregorian calendar. @year: 1 to 9999. */
static int32_t days_of(int year, int month, int day)
{
	static const int before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
	const int last = year - 1;
	const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	return last * 365 + last / 4 - last / 100 + last / 400 + before[month - 1] +
	       (leap && month > 2) + day - 1 - 719162;
}

static int days_in(int year, int month)
{
	return month == 12 ? 31 : days_of(year, month + 1, 1) - days_of(year, month, 1);
}

static const char *put_date(const struct weir_parquet_column *column, struct iovec text,
                            struct parquet_value *out)
{
	static const char form[] = "dddd-dd-dd", why[] = "YYYY-MM-DD, or --stored and the days "
	                                                 "since 1970-01-01";
	const char *at = text.iov_base;
	int part[3] = { 0, 0, 0 }, n = 0;
	bool right = text.iov_len == sizeof form - 1;
	for (size_t i = 0; right && i < sizeof form - 1; i++) {
		if (form[i] == '-') {
			right = at[i] == '-';
			n++;
		} else {
			right = at[i] >= '0' && at[i] <= '9';
			part[n] = 10 * part[n] + (at[i] - '0');
		}
	}
	if (!right || part[0] < 1 || part[1] < 1 || part[1] > 12 || part[2] < 1 ||
	    part[2] > days_in(part[0], part[1]))
		return is_none(column, text, why);
	const int32_t days = days_of(part[0], part[1], part[2]);
	add_hash(out, column, &days, sizeof days);
	return NULL;
}

/* ---- floating point ---- */

/* Hashes the nearest value of the column's type. A zero is hashed as 0.0 and as -0.0. */
static const char *put_real(const struct weir_parquet_column *column, struct iovec text,
                            struct parquet_value *out)
{
	const bool is_float = column->type == WEIR_PARQUET_FLOAT;
	char copy[NUMBER_TEXT], *end = copy;
	double value = 0;
	float narrow = 0;
	bool right = text.iov_len > 0 && text.iov_len < sizeof copy &&
	             !isspace(*(const unsigned char *)text.iov_base);
	if (right) {
		memcpy(copy, text.iov_base, text.iov_len);
		copy[text.iov_len] = '\0';
		errno = 0;
		value = is_float ? (double)(narrow = strtof(copy, &end)) : strtod(copy, &end);
		right = end == copy + text.iov_len && !isnan(value) &&
		        !(errno == ERANGE && isinf(value));
	}
	if (!right)
		return is_none(column, text, "a number within its range, or inf; NaN equals none");
	for (unsigned i = 0; i < (value == 0 ? 2 : 1); i++) {
		if (is_float)
			add_hash(out, column, &narrow, sizeof narrow);
		else
			add_hash(out, column, &value, sizeof value);
		value = -value;
		narrow = -narrow;
	}
	return NULL;
}

/* ---- bytes ---- */

static int digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* Reads two hexadecimal digits per byte. A UUID may contain its dashes. */
static const char *put_hex(const struct weir_parquet_column *column, struct iovec text,
                           struct parquet_value *out)
{
	const bool fixed = column->type == WEIR_PARQUET_FIXED;
	const bool dashes = fixed && column->logical == WEIR_PARQUET_UUID && text.iov_len == 36;
	const char *at = text.iov_base;
	char why[80];
	unsigned char *bytes = xmalloc(text.iov_len / 2 + 1);
	size_t n = 0; /* number of digits so far */
	bool right = true;
	for (size_t i = 0; right && i < text.iov_len; i++) {
		if (dashes && (i == 8 || i == 13 || i == 18 || i == 23)) {
			right = at[i] == '-';
			continue;
		}
		int value = digit(at[i]);
		right = value >= 0 && (n / 2 < text.iov_len / 2);
		if (right)
			bytes[n / 2] = (unsigned char)(n % 2 ? bytes[n / 2] << 4 | value : value);
		n++;
	}
	right = right && n % 2 == 0 && (!fixed || n / 2 == column->type_length);
	if (right)
		add_hash(out, column, bytes, n / 2);
	free(bytes);
	if (right)
		return NULL;
	snprintf(why, sizeof why, fixed ? "%u hexadecimal digits" : "hexadecimal digits, two a "
	         "byte", 2 * column->type_length);
	return is_none(column, text, why);
}

/* ---- any ---- */

static bool is_integer(const struct weir_parquet_column *column)
{
	return column->type == WEIR_PARQUET_INT32 || column->type == WEIR_PARQUET_INT64;
}

bool parquet_readable(const struct weir_parquet_column *column, bool stored, const char *name)
{
	uint64_t hash;
	const char *logical = weir_parquet_logical_name(column->logical);
	if (column->type == WEIR_PARQUET_BOOLEAN || column->type == WEIR_PARQUET_INT96) {
		say_weir(weir_parquet_hash(&hash, column->type, NULL, 0), name);
		return false;
	}
	const bool known = column->logical != WEIR_PARQUET_TIME &&
	                   column->logical != WEIR_PARQUET_TIMESTAMP &&
	                   column->logical != WEIR_PARQUET_OTHER &&
	                   (column->logical != WEIR_PARQUET_DATE ||
	                    column->type == WEIR_PARQUET_INT32) &&
	                   (column->logical != WEIR_PARQUET_DECIMAL ||
	                    (is_integer(column) && column->scale >= 0 &&
	                     column->scale <= MOST_SCALE));
	if (stored || known)
		return true;
	say("%s: weir reads no text as %s %s: give the values as they are stored, with --stored "
	    "(integers as such, bytes as hexadecimal digits)", name,
	    weir_parquet_type_name(column->type), logical);
	return false;
}

const char *parquet_value(const struct weir_parquet_column *column, bool stored, struct iovec text,
                          struct parquet_value *out)
{
	out->n = 0;
	if (is_integer(column)) {
		if (!stored && column->logical == WEIR_PARQUET_DATE)
			return put_date(column, text, out);
		return put_integer(column, text,
		                   !stored && column->logical == WEIR_PARQUET_DECIMAL ?
		                   column->scale : 0, out);
	}
	if (column->type == WEIR_PARQUET_FLOAT || column->type == WEIR_PARQUET_DOUBLE)
		return put_real(column, text, out);
	if (stored || column->type == WEIR_PARQUET_FIXED)
		return put_hex(column, text, out);
	add_hash(out, column, text.iov_base, text.iov_len);
	return NULL;
}
