#!/usr/bin/env bash
# setup-wasm-target.sh — make `cargo build --target wasm32-unknown-unknown` work on this machine.
#
#   bash setup-wasm-target.sh            set up, print what was done, write the env file
#   . "$(bash setup-wasm-target.sh -q)"  set up and load the result into this shell
#   bash setup-wasm-target.sh --env      print the env file's path only (fails if not set up)
#
# Order of attempts (first that works wins; a later run returns at once):
#   1. native   the rustc already on PATH has std for wasm32-unknown-unknown
#   2. rustup   `rustup target add wasm32-unknown-unknown`
#   3. sysroot  Debian: packages rustc-web, cargo-web, rust-web-src (or any rustc + rust-src of
#               the same version); std is compiled once into a private toolchain directory
#
# Settings (environment):
#   WASM_TC_MODE      auto (default) | rustup | sysroot     force one way
#   WASM_TC_HOME      where toolchains and the env file are kept
#                     (default ${XDG_CACHE_HOME:-$HOME/.cache}/wasm-toolchain)
#   WASM_TC_RUSTC     rustc to build std with   (default /usr/bin/rustc)
#   WASM_TC_CARGO     cargo to build std with   (default /usr/bin/cargo)
#   WASM_TC_APT       1 (default) may call apt-get; 0 never installs packages
#   WASM_TC_TIMEOUT   seconds given to `rustup target add` (default 180)
set -euo pipefail

TARGET=wasm32-unknown-unknown
RECIPE=2                                   # raise when the way std is built changes
MODE=${WASM_TC_MODE:-auto}
HOME_DIR=${WASM_TC_HOME:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/wasm-toolchain}
ENV_FILE=$HOME_DIR/env.sh
QUIET=0
case "${1:-}" in
  -q) QUIET=1 ;;
  --env) [ -f "$ENV_FILE" ] && { echo "$ENV_FILE"; exit 0; }
         echo "setup-wasm-target: not set up yet; run it without arguments" >&2; exit 1 ;;
  -h|--help) sed -n '2,24p' "$0"; exit 0 ;;
  "") ;;
  *) echo "setup-wasm-target: unknown argument '$1'" >&2; exit 2 ;;
esac
case $MODE in auto|rustup|sysroot) ;; *) echo "setup-wasm-target: WASM_TC_MODE must be auto, rustup or sysroot" >&2; exit 2 ;; esac

say()  { echo "setup-wasm-target: $*" >&2; }
die()  { echo "setup-wasm-target: error: $*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# has_std RUSTC... : does this compiler find std for the target?
has_std() {
  local dir
  dir=$("$@" --print target-libdir --target "$TARGET" 2>/dev/null) || return 1
  compgen -G "$dir/libstd-*.rlib" >/dev/null
}

# smoke RUSTC... : compile and link a tiny cdylib, so that a missing linker shows here
smoke() {
  local d rc=0; d=$(mktemp -d)
  printf '#[no_mangle]\npub extern "C" fn f(n: u32) -> usize { vec![0u8; n as usize].len() }\n' > "$d/s.rs"
  "$@" --target "$TARGET" --crate-type cdylib -O -o "$d/s.wasm" "$d/s.rs" >"$d/log" 2>&1 || rc=$?
  [ $rc = 0 ] || sed 's/^/    /' "$d/log" >&2
  [ $rc = 0 ] && [ "$(head -c4 "$d/s.wasm" | tr -d '\0')" = "asm" ] || rc=1
  rm -rf "$d"; return $rc
}

write_env() {                              # write_env KIND [BIN_DIR]
  mkdir -p "$HOME_DIR"
  { echo "# written by setup-wasm-target.sh; source it before cargo"
    echo "export WASM_TC_KIND=$1"
    if [ -n "${2:-}" ]; then
      printf 'WASM_TC_BIN=%q\n' "$2"
      echo 'case ":$PATH:" in *":$WASM_TC_BIN:"*) ;; *) PATH="$WASM_TC_BIN:$PATH" ;; esac'
      echo 'export WASM_TC_BIN PATH'
      echo 'unset RUSTUP_TOOLCHAIN RUSTC CARGO 2>/dev/null || true'
    fi
  } > "$ENV_FILE.tmp.$$"
  mv -f "$ENV_FILE.tmp.$$" "$ENV_FILE"
}

finish() { [ $QUIET = 1 ] && echo "$ENV_FILE" || say "ready ($1). Load it with:  . $ENV_FILE"; exit 0; }

mkdir -p "$HOME_DIR"
if have flock; then exec 9>"$HOME_DIR/.lock"; flock 9; fi     # two runs at once: the second waits

# 1. ---------------------------------------------------------------- already there
# (not when that rustc is the one this script put on PATH: step 1b must answer then)
if [ "$MODE" != sysroot ] && have rustc && [ "$(command -v rustc)" != "${WASM_TC_BIN:-none}/rustc" ] && has_std rustc && smoke rustc; then
  write_env native; finish "the rustc on PATH already has $TARGET"
fi

# 1b. --------------------------------------------------------------- built on an earlier run
if [ "$MODE" != rustup ] && [ -f "$ENV_FILE" ]; then
  bin=$(sed -n 's/^WASM_TC_BIN=//p' "$ENV_FILE")
  # still the compiler it was built for? (an upgraded rustc cannot read the old std: has_std passes, smoke does not)
  if [ -n "$bin" ] && [ -x "$bin/rustc" ] && [ -f "$bin/../.complete" ] && has_std "$bin/rustc" && smoke "$bin/rustc" 2>/dev/null; then
    finish "std built from source on an earlier run, in ${bin%/bin}"
  fi
fi

# 2. ---------------------------------------------------------------- rustup
if [ "$MODE" != sysroot ] && have rustup; then
  say "rustup target add $TARGET"
  if RUST_BACKTRACE=0 timeout "${WASM_TC_TIMEOUT:-180}" rustup target add "$TARGET" >&2 && has_std rustc && smoke rustc; then
    write_env rustup; finish "rustup added $TARGET"
  fi
  say "rustup could not add the target here"
fi
[ "$MODE" = rustup ] && die "rustup could not add $TARGET (WASM_TC_MODE=rustup forbids the fallback)"

# 3. ---------------------------------------------------------------- std built from source
RUSTC=${WASM_TC_RUSTC:-/usr/bin/rustc}
CARGO=${WASM_TC_CARGO:-/usr/bin/cargo}

need_pkgs=()
src_of() { echo "$("$RUSTC" --print sysroot)/lib/rustlib/src/rust/library"; }
if [ ! -x "$RUSTC" ] || [ ! -x "$CARGO" ] || [ ! -f "$(src_of 2>/dev/null)/Cargo.lock" ]; then
  need_pkgs+=(rustc-web cargo-web rust-web-src)
fi
RUSTUP_LLD=
for r in "${CARGO_HOME:-${HOME:-}/.cargo}/bin/rustc"; do
  [ -x "$r" ] || continue
  s=$("$r" --print sysroot 2>/dev/null) || continue
  h=$("$r" -vV 2>/dev/null | sed -n 's/^host: //p')
  [ -x "$s/lib/rustlib/$h/bin/rust-lld" ] && RUSTUP_LLD=$s/lib/rustlib/$h/bin/rust-lld
done
find_lld() {
  local c
  for c in "$RUSTUP_LLD" /usr/bin/lld-2[0-9] /usr/bin/lld-19 /usr/bin/lld; do
    [ -n "$c" ] && [ -x "$c" ] && { echo "$c"; return 0; }
  done
  return 1
}
find_lld >/dev/null || need_pkgs+=(LLD)

if [ ${#need_pkgs[@]} -gt 0 ]; then
  [ "${WASM_TC_APT:-1}" = 1 ] && have apt-get || die "missing: ${need_pkgs[*]} (and apt-get may not be used). Install a rustc with $TARGET, or Debian's rustc-web cargo-web rust-web-src lld-22"
  SUDO=; if [ "$(id -u)" != 0 ]; then have sudo || die "needs root to install ${need_pkgs[*]}"; SUDO=sudo; fi
  say "apt-get install ${need_pkgs[*]}"
  $SUDO apt-get update -qq >&2 || say "apt-get update failed; going on with the lists as they are"
  pkgs=()
  for p in "${need_pkgs[@]}"; do
    if [ "$p" = LLD ]; then
      for l in lld-22 lld-19 lld; do apt-cache show "$l" >/dev/null 2>&1 && { pkgs+=("$l"); break; }; done
    else pkgs+=("$p"); fi
  done
  $SUDO env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${pkgs[@]}" >&2 \
    || die "apt-get could not install: ${pkgs[*]}"
fi

LLD=$(find_lld) || die "no lld found; install Debian's lld-22 or lld-19"
SRC=$(src_of)
[ -f "$SRC/Cargo.lock" ] || die "std's source is not at $SRC (package rust-web-src)"
HOST=$("$RUSTC" -vV | sed -n 's/^host: //p')
VER=$("$RUSTC" -vV | sed -n 's/^release: //p')
HASH=$("$RUSTC" -vV | sed -n 's/^commit-hash: //p')
REALSRC=$(cd "$SRC/.." && pwd -P)
KEY=$VER-$(printf '%s' "$RECIPE $RUSTC $("$RUSTC" -vV) $REALSRC $(cksum < "$SRC/Cargo.lock")" | cksum | cut -d' ' -f1)
TC=$HOME_DIR/$KEY

if [ ! -f "$TC/.complete" ]; then
  say "building std for $TARGET with rustc $VER (once; about 75 s of processor time)"
  W=$HOME_DIR/build.$$; rm -rf "$W" "$TC"; mkdir -p "$W/seed/src"; trap 'rm -rf "$W"' EXIT
  echo '#![no_std]' > "$W/seed/src/lib.rs"
  printf '[package]\nname = "sysroot-seed"\nversion = "0.0.0"\nedition = "2021"\n[profile.release]\nopt-level = 3\ndebug = 0\n[workspace]\n' > "$W/seed/Cargo.toml"
  # std's own dependencies come with its source; without this, cargo would look for them in the registry's cache
  if [ -d "$SRC/vendor" ]; then
    mkdir -p "$W/seed/.cargo"
    printf '[source.crates-io]\nreplace-with = "std-vendor"\n[source.std-vendor]\ndirectory = "%s"\n' "$SRC/vendor" > "$W/seed/.cargo/config.toml"
  fi
  US=$'\x1f'
  # a clean environment: no wrapper, no flags of the caller's project, no config of its folders
  if ! ( cd "$W/seed" && env -u RUSTUP_TOOLCHAIN -u RUSTC_WRAPPER -u RUSTC_WORKSPACE_WRAPPER -u RUSTFLAGS -u CARGO_BUILD_TARGET -u CARGO_TARGET_DIR \
        RUSTC="$RUSTC" RUSTC_BOOTSTRAP=1 \
        CARGO_ENCODED_RUSTFLAGS="-Cembed-bitcode=yes${US}--remap-path-prefix=$REALSRC=/rustc/$HASH${US}--remap-path-prefix=$SRC/..=/rustc/$HASH" \
        "$CARGO" build --release --offline --target "$TARGET" --target-dir "$W/target" \
        -Z build-std=std,panic_abort,panic_unwind,proc_macro,test ) >"$W/log" 2>&1; then
    tail -40 "$W/log" >&2; die "std did not build"
  fi
  S=$W/tc; L=$S/lib/rustlib
  mkdir -p "$S/bin" "$L/$TARGET/lib" "$L/$HOST/bin"
  cp "$W"/target/$TARGET/release/deps/lib*.rlib "$L/$TARGET/lib/"
  rm -f "$L/$TARGET/lib/"libsysroot_seed-*
  ln -s "$("$RUSTC" --print target-libdir)" "$L/$HOST/lib"
  [ -d "$SRC" ] && ln -s "$("$RUSTC" --print sysroot)/lib/rustlib/src" "$L/src"
  for t in rustc rustdoc; do
    p=$(dirname "$RUSTC")/$t
    printf '#!/bin/sh\nfor a in "$@"; do case $a in --sysroot|--sysroot=*) exec %q "$@";; esac; done\nexec %q --sysroot %q "$@"\n' "$p" "$p" "$TC" > "$S/bin/$t"
    chmod +x "$S/bin/$t"
  done
  ln -s "$CARGO" "$S/bin/cargo"
  mv "$S" "$TC"
  : > "$TC/.complete"
  rm -rf "$W"; trap - EXIT
fi
ln -sfn "$LLD" "$TC/lib/rustlib/$HOST/bin/rust-lld"       # where rustc looks for the wasm linker

has_std "$TC/bin/rustc" || die "the built toolchain at $TC lacks std for $TARGET; delete it and run again"
smoke "$TC/bin/rustc"   || die "the built toolchain at $TC cannot link for $TARGET (linker: $LLD)"
write_env sysroot "$TC/bin"
finish "std $VER built from source, in $TC"
