import assert from "node:assert/strict";
import test from "node:test";
import { evaluate, expectedDistinct } from "../../src/formula/evaluate.ts";
import { FormulaError, parseFormula } from "../../src/formula/parse.ts";

const at = (text: string, bindings: Record<string, bigint> = {}) => evaluate(parseFormula(text), new Map(Object.entries(bindings)));

test("precedence, association, sign", () => {
  assert.equal(at("2+3*4-5"), 9n);
  assert.equal(at("10-3-2"), 5n);
  assert.equal(at("-2*3"), -6n);
  assert.equal(at("2*-3"), -6n);
  assert.equal(at("-(2+3)*2"), -10n);
  assert.equal(at("a-b*-1", { a: 5n, b: 7n }), 12n);
});

test("division rounds as the grammar says", () => {
  for (const a of [-7n, -6n, -1n, 0n, 1n, 6n, 7n, 2n ** 60n + 1n, -(2n ** 60n) - 1n]) {
    for (const b of [-3n, -1n, 1n, 3n, 128n]) {
      const floor = a / b - (a % b !== 0n && (a < 0n) !== (b < 0n) ? 1n : 0n);
      const text = (name: string) => `${name}(${a},${b})`;
      assert.equal(at(text("floor_div")), floor, text("floor_div"));
      assert.equal(at(text("ceil_div")), -(-a / b - (a % b !== 0n && (-a < 0n) !== (b < 0n) ? 1n : 0n)), text("ceil_div"));
      assert.equal(at(text("mod")), a - b * floor, text("mod"));
    }
  }
  assert.equal(at("floor_div(1,0)"), null);
});

test("min and max take any number of arguments", () => {
  assert.equal(at("max(1,min(5,x),3)", { x: 9n }), 5n);
  assert.equal(at("min(x)", { x: 9n }), 9n);
});

test("integers are exact past 2^53 and null past 128 bits", () => {
  assert.equal(at("x*x+1", { x: 2n ** 40n }), 2n ** 80n + 1n);
  assert.equal(at("9007199254740993"), 9007199254740993n);
  assert.equal(at("max(9007199254740993, 1)"), 9007199254740993n);
  assert.equal(at("x*x*x*x", { x: 2n ** 32n }), null);
});

test("a variable without a value has no result", () => assert.equal(at("batch_size*2"), null));

test("distinct experts", () => {
  assert.equal(expectedDistinct(128, 8, 1), 8);
  assert.equal(expectedDistinct(128, 8, 0), 0);
  assert.equal(expectedDistinct(128, 8, 1e9), 128);
  assert.equal(at("2*expected_distinct(64,8,4)"), 2n * BigInt(expectedDistinct(64, 8, 4)));
});

test("what is not a formula is refused, however deep", () => {
  for (const text of ["", "1+", "(1", "1)", "1 2", "max()", "mod(1)", "floor_div(1,2,3)", "a b", "1/2", "min", "x,y", "*2"]) {
    assert.throws(() => parseFormula(text), FormulaError, text);
  }
  const deep = "(".repeat(200_000) + "1" + ")".repeat(200_000);
  assert.equal(at(deep), 1n);
});

test("both ways of evaluating agree on random formulas", () => {
  let seed = 7;
  const random = (n: number) => (seed = (seed * 48271) % 2147483647) % n;
  const make = (depth: number): string => {
    if (depth === 0 || random(4) === 0) return random(2) === 0 ? String(random(1000)) : ["x", "y"][random(2)]!;
    const [a, b] = [make(depth - 1), make(depth - 1)];
    return [`(${a}+${b})`, `(${a}-${b})`, `${a}*${b}`, `floor_div(${a},${b}+1)`, `ceil_div(${a},${b}+1)`, `mod(${a},${b}+1)`, `max(${a},${b})`, `min(${a},${b})`][random(8)]!;
  };
  for (let i = 0; i < 500; ++i) {
    const program = parseFormula(make(4));
    const bindings = new Map([["x", BigInt(random(100))], ["y", BigInt(random(100))]]);
    const exactOnly = { ...program, constantNumbers: program.constantNumbers.map(() => NaN) };
    assert.equal(evaluate(program, bindings), evaluate(exactOnly, bindings), program.text);
  }
});
