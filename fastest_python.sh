#!/bin/sh
# Prints the fastest Python on the PATH that roambus is tested with and that can make a virtual environment. Builds
# differ: one without profile-guided optimisation takes a third longer for everything that agents do. Without any, it
# says what there is and what that lacks; `false` then ends make. One that is named is printed if it will do.
set -eu

tested=3.11:3.12:3.13:3.14
work='
import ensurepip, time, venv

def count():
    start, counts = time.process_time(), {}
    for number in range(100_000):
        counts[number % 1000] = counts.get(number % 1000, 0) + number
    return time.process_time() - start

print(f"{min(count() for _ in range(3)):.4f}")
'

if [ $# -gt 0 ]; then
    if "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        echo "$1"
    else
        echo "roambus needs Python 3.11 to 3.14 with venv: $1 ($("$1" -V 2>&1 || true)) is older or has no venv" >&2
        echo false
    fi
    exit
fi

pythons() {
    IFS=:
    for folder in $PATH; do
        for version in $1; do
            python=$folder/python$version
            if [ -x "$python" ]; then
                echo "$python"
            fi
        done
    done
}

candidates() {
    pythons "$tested" | while read -r python; do
        if took=$("$python" -c "$work" 2>/dev/null); then
            echo "$took $python"
        fi
    done
}

complain() {
    echo "roambus needs Python 3.11 to 3.14 with venv, and found none on the PATH:"
    pythons "$tested" | while read -r python; do
        echo "  $python has no venv (on Debian and Ubuntu, as root: apt-get install ${python##*/}-venv)"
    done
    pythons 3:3.6:3.7:3.8:3.9:3.10:3.15 | while read -r python; do
        echo "  $python is $("$python" -V 2>&1)"
    done
    echo "Install one, or name it: make PYTHON=/folder/bin/python3.12"
}

fastest=$(candidates | sort -n | head -n 1 | cut -d ' ' -f 2-)
if [ -z "$fastest" ]; then
    complain >&2
fi
echo "${fastest:-false}"
