#!/bin/sh
# Installs what omnet/ is built and tested with from Debian's packages, if it is missing and we are root.
set -eu

packages="g++ make pkg-config libzmq3-dev libprotobuf-dev protobuf-compiler doctest-dev"

complete() {
    command -v g++ && command -v make && command -v protoc && pkg-config --exists libzmq protobuf &&
        g++ -E -include doctest/doctest.h -x c++ /dev/null
}

install() {
    echo "installing from Debian, as root, what omnet/ is built and tested with: $packages"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086  # several words
    apt-get update -qq && apt-get install -qq --no-install-recommends $packages
}

if complete >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null || ! install; then
    echo "omnet/ cannot be built here, and its tests are left out; on Debian install, as root: $packages"
fi
