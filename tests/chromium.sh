#!/bin/sh
# Installs the browser that the page is tested in from Debian's packages, if there is none and we are root.
set -eu

for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && exit 0
done
export DEBIAN_FRONTEND=noninteractive
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null ||
    ! { apt-get update -qq && apt-get install -qq --no-install-recommends chromium; }; then
    echo "there is no Chromium, and the tests that need it are left out; on Debian install, as root: chromium"
fi
