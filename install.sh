#!/bin/sh
# install.sh PYTHON FOLDER [LOCK]: makes the environment FOLDER with the packages that runs need, or adds those of LOCK.
# Every file that is installed has one of the hashes in the lock files. uv needs a third of pip's time; where it finds no
# index, as behind a mirror that only pip knows, pip installs the same files. What a run needs comes first: the radio
# compiles, on one core, while the rest unpacks.
set -eu
python=$1
venv=$2
lock=${3:-}
locks=$venv/locks
# PySpark is built from its source into a wheel that is unpacked at once: compressing it would take most of the time.
stored=--config-settings=--build-option=--compression=stored

# What a run imports.
needed="cffi|click|jinja2|llvmlite|markupsafe|numba|numpy|pyarrow|pycparser|scipy"

say() {
    echo "install: $1 of 4: $2"
}

# The entries of some packages, with their hashes, or all others.
only() {
    sed -nE "/^($1)==/,/[^\\\\]\$/p" "$2"
}

others() {
    sed -E "/^($1)==/,/[^\\\\]\$/d" "$2"
}

# Python compiles what it imports, a quarter of all modules, unless it may keep nothing.
by_pip() {
    set -- "$1" ${PYTHONDONTWRITEBYTECODE:+--compile}
    "$venv/bin/python" -m pip --quiet install "${2:---no-compile}" --no-deps --no-build-isolation "$stored" \
        --require-hashes --requirement "$1"
}

# Its cache lies beside the environment's files, which are links of it, and goes at the end.
by_uv() {
    "$venv/bin/uv" pip install --python "$venv/bin/python" --cache-dir "$venv/cache" --system-certs \
        ${PYTHONDONTWRITEBYTECODE:+--compile-bytecode} --no-deps --no-build-isolation "$stored" \
        --require-hashes --requirement "$1"
}

install() {
    trap 'rm -rf "$venv/cache"' EXIT
    if [ -x "$venv/bin/uv" ] && by_uv "$1"; then
        return
    fi
    echo "install: pip installs, which takes longer"
    by_pip "$1"
}

# A run of two nodes: what it compiles stays beside the sources.
compile_radio() {
    "$venv/bin/roambus" run field --set nodes=2 --set time_limit=1 --out "$venv/compiled" >"$venv/compiled.log" 2>&1 ||
        cat "$venv/compiled.log"
    rm -rf "$venv/compiled" "$venv/compiled.log"
}

if [ -n "$lock" ]; then
    install "$lock"
    exit
fi
[ "$python" != false ] # fastest_python.sh has said why
say 1 "an environment with $("$python" -V), in $venv"
"$python" -m venv --clear "$venv"
mkdir "$locks"
only uv requirements-build.lock >"$locks/uv"
others uv requirements-build.lock >"$locks/needed"
only "$needed" requirements.lock >>"$locks/needed"
others "$needed" requirements.lock >"$locks/rest"
by_pip "$locks/uv" 2>"$venv/uv.log" || cat "$venv/uv.log"
say 2 "what a run needs"
install "$locks/needed"
"$venv/bin/python" -m pip --quiet install --no-deps --no-build-isolation --editable .
say 3 "the rest, with PySpark (in all 670 MB to download); meanwhile the radio is compiled"
compile_radio &
install "$locks/rest"
say 4 "the radio"
wait
rm -rf "$locks" "$venv/uv.log"
