/* SPDX-License-Identifier: MIT
 * A user's program, in C++. */
#include <iostream>
#include <string>
#include <weir/inline.h>
#include <weir/weir.h>

int main()
{
	weir_params params = WEIR_PARAMS_INIT;
	params.capacity = 1000;
	params.fp_rate = 0.000001;
	weir_filter *f = nullptr;
	if (weir_create(&f, &params) < 0) {
		std::cerr << weir_error_detail() << '\n';
		return 1;
	}
	const std::string apple = "apple", pear = "pear";
	weir_inline_mut mut;
	bool right = weir_insert(f, apple.data(), apple.size()) == WEIR_NEW &&
	             weir_contains(f, apple.data(), apple.size()) &&
	             !weir_contains(f, pear.data(), pear.size()) &&
	             weir_inline_init_mut(&mut, f) == 0 &&
	             weir_inline_contains(&mut.view, apple.data(), apple.size()) &&
	             weir_inline_insert(&mut, pear.data(), pear.size()) == WEIR_NEW &&
	             weir_contains(f, pear.data(), pear.size());
	weir_destroy(f);
	std::cout << "weir " << weir_version() << '\n';
	return right ? 0 : 1;
}
