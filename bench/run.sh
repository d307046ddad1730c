#!/usr/bin/env bash
# Measures this module against its peers on the same inputs and prints one table of ratios.
#   bench/run.sh [-quick] [-only NAME] [-save]   the suite; -save writes bench/RESULTS.md
#   bench/run.sh -list                           the cases
#   bench/run.sh -scaling                        times for 2^10 to 2^26 elements, ours and the probe's
# It installs nothing. Peers that are missing are named, with the way to get them, and left out.
set -euo pipefail
cd "$(dirname "$0")"

args=() save='' scaling='' list=''
while [ $# -gt 0 ]; do
	case $1 in
	-quick) args+=(-quick) ;;
	-only) args+=(-only "${2:?-only needs a name}") && shift ;;
	-save) save=1 ;;
	-scaling) scaling=1 ;;
	-list) list=1 ;;
	*) sed -n '2,6s/^# //p' run.sh >&2 && exit 2 ;;
	esac
	shift
done
command -v go >/dev/null || { echo "run.sh: there is no Go: see go.dev/doc/install" >&2 && exit 1; }
bin=$(mktemp -d)
data=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) # of inputs and results, in memory if there is such a folder
trap 'rm -rf "$bin" "$data"' EXIT
go build -o "$bin/bench" .
[ -z "$list" ] || { "$bin/bench" -list "${args[@]}" && exit; }
go build -o "$bin/ours" ./ours
if [ -n "$scaling" ]; then
	go build -o "$bin/probe" ./probe
	GOMAXPROCS=2 "$bin/ours" -scaling
	printf '\nthe probe\n'
	GOMAXPROCS=2 "$bin/probe" -scaling
	exit
fi

lacking=''
lacks() { # lacks WHAT HOW
	lacking+="$1 is left out: $2"$'\n'
	echo "run.sh: $1 is left out: $2" >&2
}
for peer in probe gomlx gorgonia; do
	go build -o "$bin/$peer" "./$peer" 2>"$bin/log" || lacks "$peer" "$(tail -n 1 "$bin/log")"
done
python=${PYTHON:-/usr/bin/python3} # Debian's, which has Debian's torch
for package in torch numpy; do
	"$python" -c "import $package" 2>/dev/null || lacks "$package" "apt-get install python3-$package"
done
blas=$(readlink -f /usr/lib/x86_64-linux-gnu/libblas.so.3 || true)
case $blas in
*openblas*) ;;
*) lacks "OpenBLAS" "apt-get install libopenblas0-pthread; torch and numpy multiply by $blas" ;;
esac

version() { "$python" -c "import $1; print($1.__version__)" 2>/dev/null || echo none; }
module() { go list -m -f '{{.Version}}' "$1"; }
versions="$lacking$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, Linux $(uname -r), \
huge pages $(grep -o '\[.*\]' /sys/kernel/mm/transparent_hugepage/enabled || true)
$(go version | cut -d' ' -f3), ours $(git describe --always --dirty 2>/dev/null || echo unknown), torch $(version torch), \
numpy $(version numpy), GoMLX $(module github.com/gomlx/gomlx), gorgonia's tensor $(module gorgonia.org/tensor), \
BLAS $blas; 2 threads each"
"$bin/bench" -bin "$bin" -dir "$data" -python "$python" -versions "$versions" ${save:+-save RESULTS.md} "${args[@]}"
