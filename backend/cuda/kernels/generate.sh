#!/bin/sh
# generate.sh [DIRECTORY] compiles every kernel source to PTX, beside it or into the directory. The PTX is what
# is shipped and committed; the compiler gives the same bytes on every run.
set -eu
out=$(cd "${1:-$(dirname "$0")}" && pwd)
cd "$(dirname "$0")"
for source in *.cu; do
	clang++-19 -x cuda -std=c++17 --cuda-device-only --cuda-gpu-arch=sm_70 --cuda-feature=+ptx63 \
		-nocudalib -nocudainc -ffp-contract=off -fno-exceptions -O2 -Wall -Werror \
		-S -o "$out/${source%.cu}.ptx" "$source"
done
