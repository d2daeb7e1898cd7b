#!/bin/sh
# Wrong constants, each in a copy of these files: the proofs must fail, in the file that uses them.
set -eu
cd "$(dirname "$0")"
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# What is changed, in which file, by which substitution, and which file must then fail.
try() {
    rm -rf "$copy"/* && cp -p ./*.v ./*.vo Makefile assumptions.txt "$copy" && cp -pr program "$copy"
    sed -i "$3" "$copy/$2.v"
    if cmp -s "$2.v" "$copy/$2.v"; then echo "nothing was changed for: $1"; exit 1; fi
    if make -C "$copy" proofs >"$copy/log" 2>&1; then echo "PASSED although wrong: $1"; exit 1; fi
    if ! grep -q "File \"./$4.v\"" "$copy/log"; then echo "failed elsewhere than in $4.v: $1"; cat "$copy/log"; exit 1; fi
    echo "refused, as it must be: $1 ($(grep -m1 -o "File \"./$4.v\", line [0-9]*" "$copy/log"))"
}

try "a sign in the leaf line: c_x = u_x + nu + w P(S|x)" Leaf \
    's/^  u x + nu - sum (secrets J)/  u x + nu + sum (secrets J)/' Leaf
try "rounding up where the program must round down: the means of w" Checker \
    's/let means := map2 Z.div /let means := map2 (fun a b => - (- a \/ b)) /' Optimum
try "rounding down the threshold that leaves must reach" Checker \
    's/^  ceiling (2 \* Z.of_N k + 64)/  floor (2 * Z.of_N k + 64)/' Optimum
try "the shares of a pair exchanged" Checker \
    's/(b \* u_x + a \* u_y)/(a * u_x + b * u_y)/' Ends
try "a word that equals a cumulated integer, drawn as if it were below it" Meaning \
    's/(edge <=? word)/(edge <? word)/' Sampling
