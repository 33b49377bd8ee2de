/* SPDX-License-Identifier: MIT
 * Parses figures. Numbers of keys and bytes are computed in integers, so they are exact. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "output/say.h"
#include "units.h"

/* The number mantissa * 10^exponent, and the text after the number. */
struct decimal {
	uint64_t mantissa;
	int exponent;
	const char *rest;
	bool large; /* the mantissa exceeds 64 bits */
};

static bool add_digit(uint64_t *value, char digit)
{
	return !__builtin_mul_overflow(*value, UINT64_C(10), value) &&
	       !__builtin_add_overflow(*value, (uint64_t)(digit - '0'), value);
}

/* Reads a number such as 12, 1.5, .5, 1e6 or 2.5e3. Return: false if the text does not begin
 * with a number, or if a number with a point has too many digits for 64 bits. */
static bool read_decimal(const char *text, struct decimal *out)
{
	*out = (struct decimal){ .rest = text };
	int digits = 0;
	bool point = false;
	const char *p = text;
	for (;; p++) {
		if (*p == '.' && !point) {
			point = true;
		} else if (isdigit((unsigned char)*p)) {
			if (!add_digit(&out->mantissa, *p)) {
				if (point)
					return false;
				out->large = true;
			}
			out->exponent -= point;
			digits++;
		} else {
			break;
		}
	}
	if (*p == 'e' && isdigit((unsigned char)p[1])) {
		int e = 0;
		for (p++; isdigit((unsigned char)*p) && e < 1000; p++)
			e = e * 10 + (*p - '0');
		out->exponent += e;
	}
	out->rest = p;
	return digits > 0;
}

/* Return: the factor of a suffix, or 0 if the suffix is unknown. */
static uint64_t suffix_keys(const char *suffix)
{
	if (!*suffix)
		return 1;
	static const char letters[] = "KMGT";
	const char *at = strchr(letters, toupper((unsigned char)*suffix));
	if (!at || suffix[1])
		return 0;
	uint64_t by = 1000;
	for (; at > letters; at--)
		by *= 1000;
	return by;
}

static uint64_t suffix_bytes(const char *suffix)
{
	if (!*suffix || strcmp(suffix, "B") == 0)
		return 1;
	static const char letters[] = "KMGT";
	const char *at = strchr(letters, toupper((unsigned char)*suffix));
	if (!at)
		return 0;
	unsigned power = (unsigned)(at - letters) + 1;
	if (!suffix[1] || strcmp(suffix + 1, "iB") == 0)
		return UINT64_C(1) << 10 * power;
	if (strcmp(suffix + 1, "B"))
		return 0;
	uint64_t by = 1;
	while (power--)
		by *= 1000;
	return by;
}

enum scaled { SCALED, TOO_LARGE, NOT_WHOLE, NO_NUMBER };

/* Computes mantissa * by * 10^exponent, and drops a fraction. Return: NO_NUMBER if the result is 0;
 * NOT_WHOLE if a fraction was dropped and the result is above 0. */
static enum scaled scale(struct decimal number, uint64_t by, uint64_t *out)
{
	if (number.large || __builtin_mul_overflow(number.mantissa, by, out))
		return TOO_LARGE;
	for (; number.exponent > 0 && *out; number.exponent--)
		if (__builtin_mul_overflow(*out, UINT64_C(10), out))
			return TOO_LARGE;
	enum scaled result = SCALED;
	for (; number.exponent < 0 && *out; number.exponent++) {
		if (*out % 10)
			result = NOT_WHOLE;
		*out /= 10;
	}
	return *out ? result : NO_NUMBER;
}

/* Reads a number above 0 with its suffix. */
static enum scaled read_scaled(const char *text, uint64_t (*suffix)(const char *), uint64_t *out)
{
	struct decimal number;
	uint64_t by = read_decimal(text, &number) ? suffix(number.rest) : 0;
	return by ? scale(number, by, out) : NO_NUMBER;
}

bool parse_keys(const char *option, const char *text, uint64_t *out)
{
	enum scaled result = read_scaled(text, suffix_keys, out);
	if (result == TOO_LARGE)
		say("%s '%s': too many keys: the number does not fit in 64 bits", option, text);
	else if (result != SCALED)
		say("%s '%s': not a number of keys: give a whole number from 1 up such as 250000, "
		    "1e6, 1.5M or 2G",
		    option, text);
	return result == SCALED;
}

bool parse_bytes(const char *option, const char *text, uint64_t *out)
{
	enum scaled result = read_scaled(text, suffix_bytes, out);
	if (result == TOO_LARGE)
		say("%s '%s': too large: the bytes do not fit in 64 bits", option, text);
	else if (result == NO_NUMBER)
		say("%s '%s': not a size: give bytes such as 65536, 64K, 1.5G, 512MiB or 100MB",
		    option, text);
	return result == SCALED || result == NOT_WHOLE;
}

/* Reads a decimal number. Refuses sign, space, hex, nan and inf, which strtod() accepts. */
static bool read_real(const char *text, double *out, const char **rest)
{
	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return false;
	char *end;
	*out = strtod(text, &end);
	*rest = end;
	return end > text;
}

/* Reads a number such as 0.1, 10% or 1/10. */
static bool read_part(const char *text, double *out)
{
	const char *rest;
	double below = 1.0;
	bool ok = read_real(text, out, &rest);
	if (ok && *rest == '/') {
		ok = read_real(rest + 1, &below, &rest);
		*out /= below;
	} else if (ok && *rest == '%') {
		*out /= 100.0;
		rest++;
	}
	return ok && !*rest;
}

bool parse_rate(const char *option, const char *text, double *out)
{
	if (read_part(text, out) && *out >= 1e-9 && *out <= 0.5)
		return true;
	say("%s '%s': allowed: 1e-9 to 0.5 (50%%), such as 1%%, 0.01 or 1/100", option, text);
	return false;
}

bool parse_share(const char *option, const char *text, double least, double *out)
{
	if (read_part(text, out) && *out >= least && *out <= 1)
		return true;
	say("%s '%s': allowed: %g to 1, such as 10%%, 0.1 or 1/10", option, text, least);
	return false;
}

uint64_t round_up(uint64_t number)
{
	uint64_t step = 1;
	while (number / step >= 1000)
		step *= 10;
	return (number / step + (number % step != 0)) * step;
}

bool parse_seconds(const char *option, const char *text, double least, double most, double *out)
{
	const char *rest;
	if (read_real(text, out, &rest) && !*rest && *out >= least && *out <= most)
		return true;
	say("%s '%s': allowed: %g to %g seconds, such as %s", option, text, least, most,
	    least < 1 ? "2 or 0.5" : "60");
	return false;
}

bool parse_number(const char *option, const char *text, uint64_t least, uint64_t most,
                  uint64_t *out)
{
	char *end = NULL;
	errno = 0;
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') &&
	           isxdigit((unsigned char)text[2]);
	if (isdigit((unsigned char)*text))
		*out = strtoull(text, &end, hex ? 16 : 10);
	if (end && !*end && !errno && *out >= least && *out <= most)
		return true;
	say("%s '%s': allowed: %llu to %llu, a whole number", option, text,
	    (unsigned long long)least, (unsigned long long)most);
	return false;
}

bool parse_small(const char *option, const char *text, uint32_t most, uint32_t *out)
{
	uint64_t number;
	if (!parse_number(option, text, 1, most, &number))
		return false;
	*out = (uint32_t)number;
	return true;
}
