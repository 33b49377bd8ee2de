# SPDX-License-Identifier: MIT
"""What bench/collect, bench/report and bench/compare share: nothing but Python's standard
library."""
