# SPDX-License-Identifier: MIT
# Sourced by scripts that give sources to a C and a C++ compiler: from $1 (gcc or clang) and $2 the
# compilers, the folder of the headers, and a folder that goes away at the end.
compiler=$1 include=$2
case $compiler in
gcc) cxx=g++ ;;
clang) cxx=clang++ ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
