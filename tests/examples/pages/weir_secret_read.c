/* SPDX-License-Identifier: MIT
 * Give a filter a secret key, so that no client can choose keys that collide.
 * Prints:
 *     ann: 1
 */
#include <stdio.h>
#include <fcntl.h>
#include <unistd.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	unsigned char secret[WEIR_SECRET_BYTES];
	int fd = open("key", O_CREAT | O_WRONLY, 0600);
	if (fd < 0 || write(fd, "0123456789abcdef", 16) != 16 ||
	    close(fd) < 0)
		return 1; /* a real key has 16 random bytes */
	if (weir_secret_read(secret, "key") < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	params.secret = secret;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert(f, "ann", 3);
	printf("ann: %d\n", weir_contains(f, "ann", 3));
	weir_destroy(f);
	return 0;
}
