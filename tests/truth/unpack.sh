#!/usr/bin/env bash
# Lays the shared corpus of real model files out, once per machine and version of the archive.
#   tests/truth/unpack.sh SHARED_DIR CORPUS_DIR
set -euo pipefail
shared=$1 corpus=$2
if [ ! -x "$shared/corpus/unpack" ]; then
  echo "NO SHARED FILES: $shared/corpus is absent, so nothing is checked against real models"
  exit
fi
mkdir -p "$(dirname "$corpus")"
exec 9>"$corpus.lock"
flock 9
version=$(stat -c '%s %Y' "$shared"/corpus/* | sha256sum)
if [ "$(cat "$corpus/.unpacked" 2>/dev/null)" != "$version" ] || [ ! -d "$corpus/profiles" ]; then
  rm -rf "$corpus" "$corpus.new"
  "$shared/corpus/unpack" "$corpus.new"
  mkdir "$corpus.new/profiles"
  if [ -f "$shared/corpus/ort-profiles.tar.xz" ]; then
    tar -xJf "$shared/corpus/ort-profiles.tar.xz" -C "$corpus.new/profiles"
  fi
  echo "$version" > "$corpus.new/.unpacked"
  mv "$corpus.new" "$corpus"
fi
echo "the corpus is in $corpus"
