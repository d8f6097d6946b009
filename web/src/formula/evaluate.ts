// Evaluates compiled formulas exactly. Most run in doubles, checked after each step to be integers a
// double holds; the first that is not sends the formula to BigInt. Past 128 bits the program has no
// value, and neither has the page.
import { Op, type Program } from "./parse.ts";

export type Bindings = ReadonlyMap<string, bigint>;

const LIMIT = 1n << 127n;
const MOST_STEPS = 1e6; // of expected_distinct, where no real model comes near

// null: overflow, division by zero, or a variable that has no value.
export function evaluate(program: Program, bindings: Bindings): bigint | null {
  distinct = expectedDistinct;
  return evaluateEither(program, bindings);
}

// With the chosen experts read once, however many tokens choose: what no routing can avoid.
export function evaluateFewestExperts(program: Program, bindings: Bindings): bigint | null {
  distinct = (_experts, chosen) => chosen;
  return evaluateEither(program, bindings);
}

let distinct = expectedDistinct;

function evaluateEither(program: Program, bindings: Bindings): bigint | null {
  const fast = evaluateNumbers(program, bindings);
  if (!Number.isNaN(fast)) return BigInt(fast);
  return evaluateIntegers(program, bindings);
}

const numbers: number[] = [];

// NaN where doubles do not do.
function evaluateNumbers(program: Program, bindings: Bindings): number {
  const { ops, args, constantNumbers, variables } = program;
  let top = -1;
  for (let i = 0; i < ops.length; ++i) {
    const argument = args[i] as number;
    let result: number;
    switch (ops[i] as Op) {
      case Op.Constant:
        numbers[++top] = constantNumbers[argument] as number;
        continue;
      case Op.Variable: {
        const value = bindings.get(variables[argument] as string);
        if (value === undefined) return NaN;
        result = Number(value);
        ++top;
        break;
      }
      case Op.Negate:
        result = -(numbers[top] as number);
        break;
      case Op.Minimum:
      case Op.Maximum:
        top -= argument - 1;
        result = extreme(numbers, top, argument, ops[i] === Op.Maximum);
        break;
      case Op.ExpectedDistinct:
        top -= 2;
        result = distinct(
          numbers[top] as number, numbers[top + 1] as number, numbers[top + 2] as number,
        );
        break;
      default:
        --top;
        result = binaryNumber(ops[i] as Op, numbers[top] as number, numbers[top + 1] as number);
    }
    if (!(Math.abs(result) <= Number.MAX_SAFE_INTEGER)) return NaN;
    numbers[top] = result;
  }
  return numbers[0] as number;
}

function extreme(stack: number[], from: number, count: number, largest: boolean): number {
  let result = stack[from] as number;
  for (let i = 1; i < count; ++i) {
    const value = stack[from + i] as number;
    if (Number.isNaN(value)) return NaN;
    if (largest ? value > result : value < result) result = value;
  }
  return result;
}

function binaryNumber(op: Op, a: number, b: number): number {
  switch (op) {
    case Op.Add:
      return a + b;
    case Op.Subtract:
      return a - b;
    case Op.Multiply:
      return a * b;
    case Op.FloorDivide:
      return b === 0 ? NaN : (a - modulo(a, b)) / b;
    case Op.CeilDivide:
      return b === 0 ? NaN : (a + modulo(-a, b)) / b;
    default:
      return b === 0 ? NaN : modulo(a, b);
  }
}

// a - b*floor_div(a, b): the remainder that has the sign of b.
function modulo(a: number, b: number): number {
  const remainder = a % b;
  return remainder !== 0 && remainder < 0 !== b < 0 ? remainder + b : remainder;
}

// E·(1−(1−k/E)^n) by successive multiplication, so that two languages agree to the last bit.
export function expectedDistinct(experts: number, chosen: number, tokens: number): number {
  if (experts === 0) return 0;
  if (tokens > MOST_STEPS && chosen * MOST_STEPS < experts) return NaN;
  const p = 1 - chosen / experts;
  let q = 1;
  for (let i = 0; i < tokens; ++i) {
    const next = q * p;
    if (next === q) break;
    q = next;
  }
  return Math.floor(experts * (1 - q) + 0.5);
}

function evaluateIntegers(program: Program, bindings: Bindings): bigint | null {
  const { ops, args, constants, variables } = program;
  const stack: bigint[] = [];
  for (let i = 0; i < ops.length; ++i) {
    const argument = args[i] as number;
    let result: bigint | null;
    switch (ops[i] as Op) {
      case Op.Constant:
        result = constants[argument] as bigint;
        break;
      case Op.Variable:
        result = bindings.get(variables[argument] as string) ?? null;
        break;
      case Op.Negate:
        result = -(stack.pop() as bigint);
        break;
      case Op.Minimum:
        result = stack.splice(-argument).reduce((a, b) => (b < a ? b : a));
        break;
      case Op.Maximum:
        result = stack.splice(-argument).reduce((a, b) => (b > a ? b : a));
        break;
      case Op.ExpectedDistinct: {
        const [experts, chosen, tokens] = stack.splice(-3).map(Number) as [number, number, number];
        const value = distinct(experts, chosen, tokens);
        result = Number.isFinite(value) ? BigInt(value) : null;
        break;
      }
      default: {
        const b = stack.pop() as bigint;
        result = binaryInteger(ops[i] as Op, stack.pop() as bigint, b);
      }
    }
    if (result === null || result >= LIMIT || result < -LIMIT) return null;
    stack.push(result);
  }
  return stack[0] ?? null;
}

function binaryInteger(op: Op, a: bigint, b: bigint): bigint | null {
  switch (op) {
    case Op.Add:
      return a + b;
    case Op.Subtract:
      return a - b;
    case Op.Multiply:
      return a * b;
    case Op.FloorDivide:
      return b === 0n ? null : floorDivide(a, b);
    case Op.CeilDivide:
      return b === 0n ? null : -floorDivide(-a, b);
    default:
      return b === 0n ? null : a - b * floorDivide(a, b);
  }
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}
