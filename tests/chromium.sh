#!/bin/sh
# Installs the browser that the page is tested in from Debian's packages, if there is none and we are root.
set -eu

for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && exit 0
done

install() {
    echo "installing from Debian, as root, the browser that pages are tested in: chromium"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -qq --no-install-recommends chromium
}

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null || ! install; then
    echo "there is no Chromium, and the tests that need it are left out; on Debian install, as root: chromium"
fi
