#!/usr/bin/env bash
# Installs a build into an empty prefix and uses the program from there, away from its sources.
#   tests/install/run.sh build/release
set -euo pipefail
build=$(cd "$1" && pwd)
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
passed=0 failed=0
check() {  # what it promises, then a command
  local promise=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED: $promise"; fi
}

cmake --install "$build" --prefix "$prefix" > /dev/null
export PATH=$prefix/bin:$PATH
cd "$prefix"
check "says its version" kcharter --version

# Start-up is part of the promise; the best of ten runs, since a busy machine is not its fault.
best=1000000000
for _ in 1 2 3 4 5 6 7 8 9 10; do
  begin=$(date +%s%N)
  kcharter --version > /dev/null
  took=$(($(date +%s%N) - begin))
  [ "$took" -ge "$best" ] || best=$took
done
echo "--version took $((best / 1000)) us"
case $build in
*/release) check "starts within 20 ms" [ "$best" -le 20000000 ] ;;
esac

# A model of four numbers is enough to see that a document and a site come out of the binary alone.
cat > config.json <<'JSON'
{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "vocab_size": 256,
 "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
 "num_key_value_heads": 2, "max_position_embeddings": 512, "rms_norm_eps": 1e-6,
 "tie_word_embeddings": false, "torch_dtype": "bfloat16"}
JSON
if kcharter --help > help 2>&1 && grep -q publish help; then  # until the command line is complete
  check "analyses a configuration" kcharter analyze config.json --name tiny --format none
  check "writes a document per mode" test -s generated/tiny.prefill.json -a -s generated/tiny.decode.json
  check "validates what it wrote" kcharter validate generated/tiny.decode.json
  check "publishes a site" kcharter publish site generated/tiny.*.json
  for file in index.html kcharter.html generated/catalog.json generated/tiny.decode.json; do
    check "the site has $file" test -s "site/$file"
  done
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
