#!/bin/sh
# Coq 8.16, Flocq, Coquelicot, Interval and zarith: installs Debian's packages if they are missing and it may.
set -eu
packages="coq libcoq-flocq libcoq-coquelicot libcoq-interval ocaml-findlib libzarith-ocaml-dev"

present() {
    command -v coqc >/dev/null && command -v ocamlfind >/dev/null && ocamlfind query zarith >/dev/null 2>&1 &&
        [ -e "$(coqc -where)/user-contrib/Interval/Tactic.vo" ] && [ -e "$(coqc -where)/user-contrib/Flocq/Core/Core.vo" ]
}

present && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $packages >/dev/null
fi
present && exit 0
echo "verified/ needs Coq 8.16 with Interval, Flocq and Coquelicot, and OCaml with zarith; on Debian 12:" >&2
echo "    apt-get install $packages" >&2
exit 1
