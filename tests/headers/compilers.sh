# SPDX-License-Identifier: MIT
# For scripts that compile sources with a C and a C++ compiler: source this file with the arguments
# gcc or clang, and the folder of the headers. It sets the compilers and makes a temporary folder.
compiler=$1 include=$2
case $compiler in
gcc) cxx=g++ ;;
clang) cxx=clang++ ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
