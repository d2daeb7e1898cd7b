#!/bin/sh
# Chromium: installs Debian's package if it is missing and it may.
set -eu
present() {
    command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null
}

present && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
fi
present && exit 0
echo "make test-browser needs Chromium; on Debian: apt-get install chromium" >&2
exit 1
