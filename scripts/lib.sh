# Shared by the other scripts (sourced, bash): paths, progress lines, stamps of environments, and
# where an interpreter or uv is found. It decides nothing about what is installed: scripts/setup does.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# log TEXT: a progress line with the seconds since the script began, on stderr.
log() { printf '[%4ds] %s\n' "$SECONDS" "$*" >&2; }
die() {
  log "error: $*"
  exit 1
}

# extras: those of setup.cfg that the server is run with, say "mcp,llamacpp": EXTRAS now, or as it last was.
extras() {
  if [ -n "${EXTRAS+set}" ]; then
    printf '%s' "$EXTRAS"
  else
    cat "$ROOT/.cache/extras" 2>/dev/null || true
  fi
}

# stamp ENV: what an environment was made from. A second set-up compares it and does nothing.
# The folder is part of it, since an environment can't be moved.
stamp() {
  local inputs=(setup.cfg pyproject.toml scripts/setup scripts/lib.sh)
  case $1 in
    .venv | .venv-ha) inputs+=(requirements_test.txt scripts/python314 scripts/ha_requirements.py) ;;
  esac
  (cd "$ROOT" && {
    printf '%s\n' "$ROOT/$1"
    if [ "$1" = .venv-run ]; then extras; fi
    cat "${inputs[@]}"
  } | sha256sum)
}

# is_current ENV: true when nothing has to be done for it.
is_current() {
  local have=
  [ -x "$ROOT/$1/bin/python" ] || return 1
  read -r have _ 2>/dev/null <"$ROOT/$1/.stamp" || return 1
  [ "$have  -" = "$(stamp "$1")" ]
}

# usable PYTHON MINIMUM [BELOW]: it starts (a pyenv shim can be dead), its version is in the range,
# and the modules that the server needs were built in (SQLite with full text among them).
usable() {
  "$1" -I - "$2" "${3:-4}" >/dev/null 2>&1 <<'PY'
import sys
def version(text):
    return tuple(map(int, text.split(".")))
assert version(sys.argv[1]) <= sys.version_info[:3] and sys.version_info[:2] < version(sys.argv[2])
import ctypes, ensurepip, lzma, sqlite3, ssl, venv, zlib
sqlite3.connect(":memory:").execute("create virtual table t using fts5(x)")
PY
}

# find_python MINIMUM BELOW NAME...: the first usable interpreter, by its real path, on stdout:
# this checkout's own, those on PATH, then pyenv's, newest first. Fails when there is none.
find_python() {
  local minimum=$1 below=$2 name candidate
  shift 2
  for name in "$@"; do
    while IFS= read -r candidate; do
      if [ -x "$candidate" ] && usable "$candidate" "$minimum" "$below"; then
        "$candidate" -I -c 'import os, sys; print(os.path.abspath(sys.executable))'
        return
      fi
    done < <(
      # python314 puts CPython here, from either of its two sources
      ls -1 "$ROOT/.python3.14"/*/bin/"$name" 2>/dev/null
      type -ap "$name"
      ls -1 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/"$name" 2>/dev/null | sort -rV
    )
  done
  return 1
}

# find_uv PYTHON...: uv's path on stdout: on PATH, or in .uv, put there by the first PYTHON that
# can. Fails when it isn't to be had: pip does then.
find_uv() {
  local uv python
  for uv in "$ROOT/.uv/bin/uv" uv; do
    if uv=$(type -p "$uv") && "$uv" --version >/dev/null 2>&1; then
      echo "$uv"
      return
    fi
  done
  for python in "$@"; do
    type -p "$python" >/dev/null || continue
    log "uv: installing it into .uv"
    rm -rf "$ROOT/.uv"
    if "$python" -m venv "$ROOT/.uv" >/dev/null 2>&1 &&
      "$ROOT/.uv/bin/python" -m pip install -q --disable-pip-version-check uv >/dev/null 2>&1; then
      echo "$ROOT/.uv/bin/uv"
      return
    fi
    rm -rf "$ROOT/.uv"
  done
  return 1
}

# private_apt WORK SUITE [none]: sets APT, the options of an apt with lists and a cache of its own in
# WORK, reading SUITE from the Debian archive that the host's apt uses; apt checks the archive's
# signature against Debian's keyring. `none`: as if no package were installed. No root is needed.
private_apt() {
  local work=$1 suite=$2 uri keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  uri=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 -E '/debian/?$') ||
    die "apt's sources name no Debian archive"
  [ -r "$keyring" ] || die "missing $keyring: apt-get install debian-archive-keyring"
  mkdir -p "$work"/{lists/partial,cache/archives/partial}
  printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' \
    "$uri" "$suite" "$keyring" >"$work/debian.sources"
  APT=(-o "Dir::Etc::sourcelist=$work/debian.sources" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null
    -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o Debug::NoLocking=true
    -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)
  if [ "${3-}" = none ]; then
    : >"$work/status"
    APT+=(-o "Dir::State::status=$work/status" -o "Dir::State::extended_states=$work/extended")
  fi
  if ! apt-get "${APT[@]}" update -qq --error-on=any >"$work/apt.log" 2>&1; then
    log "apt: $suite can't be read"
    tail -n 2 "$work/apt.log" >&2
    return 1
  fi
}
