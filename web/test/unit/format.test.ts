import assert from "node:assert/strict";
import test from "node:test";
import { formatBytes, formatCount, formatParameters, formatPercent, formatTime, integer, parseLength, THIN } from "../../src/format/number.ts";
import { formatHash, parseHash, DEFAULTS } from "../../src/settings/settings.ts";
import { hotSet } from "../../src/metrics/bar.ts";

const plain = (text: string) => text.replaceAll(THIN, " ");

test("bytes have three digits and binary units", () => {
  assert.equal(plain(formatBytes(768n)), "768 bytes");
  assert.equal(plain(formatBytes(2110n)), "2.06 KiB");
  assert.equal(plain(formatBytes(73_981_000_000n)), "68.9 GiB");
  assert.equal(plain(formatBytes(112_742_891_520n)), "105 GiB");
  assert.equal(plain(formatBytes(1023n * 1024n + 900n)), "1.00 MiB");
  assert.equal(formatBytes(0n), "0");
});

test("counts, parameters, times, percents", () => {
  assert.equal(plain(formatCount(105_200_000_000n)), "105 G");
  assert.equal(plain(formatParameters(59_800_000_000n)), "59.8 B");
  assert.equal(formatCount(2816n), "2,816");
  assert.equal(plain(formatTime(2.52e-6)), "2.52 µs");
  assert.equal(plain(formatTime(9.11e-3)), "9.11 ms");
  assert.equal(plain(formatTime(2.8)), "2.80 s");
  assert.equal(plain(formatPercent(0)), "0 %");
  assert.equal(plain(formatPercent(0.0001)), "< 0.1 %");
  assert.equal(plain(formatPercent(0.8131)), "81.3 %");
  assert.equal(integer(-1234567n), "\u22121,234,567");
});

test("lengths as people type them", () => {
  assert.equal(parseLength("32,768"), 32768n);
  assert.equal(parseLength("32k"), 32768n);
  assert.equal(parseLength("1M"), 1048576n);
  for (const text of ["", "-1", "1.5", "12x", "9".repeat(30)]) assert.equal(parseLength(text), null, text);
});

test("the hash carries a view and only what differs", () => {
  const settings = { ...DEFAULTS, variables: new Map([["batch_size", 8n], ["max_length", 65536n], ["height", 512n]]), view: "table" as const, device: null };
  const hash = formatHash("model.layers[0:4].self_attn", settings);
  assert.equal(hash, "#model.layers[0:4].self_attn&batch=8&max_seq=65536&height=512&device=none&view=table");
  const back = parseHash(hash);
  assert.equal(back.path, "model.layers[0:4].self_attn");
  assert.deepEqual(back.settings, settings);
  assert.equal(parseHash("#a%26b=c").path, "a&b=c");
  assert.equal(formatHash("a&b=c", DEFAULTS), "#a%26b%3Dc");
});

test("hot are the fewest that make 80 %, ties included", () => {
  assert.deepEqual([...hotSet(new Map([["a", 50], ["b", 35], ["c", 15]]))], ["a", "b"]);
  assert.deepEqual([...hotSet(new Map([["a", 25], ["b", 25], ["c", 25], ["d", 25], ["e", null]]))].length, 4);
});
