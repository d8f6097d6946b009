// A formula of a document, compiled once into a postfix program for evaluate.ts.
//
//   formula  = term { ("+" | "-") term }       functions: floor_div ceil_div mod min max
//   term     = factor { "*" factor }                      expected_distinct
//
// Shunting-yard, no recursion: the text comes from a file and may nest as deep as it likes.

export const enum Op {
  Constant, // argument: index into constants
  Variable, // argument: index into variables
  Add,
  Subtract,
  Multiply,
  Negate,
  FloorDivide,
  CeilDivide,
  Modulo,
  Minimum, // argument: how many
  Maximum,
  ExpectedDistinct,
}

export interface Program {
  text: string;
  ops: Uint8Array;
  args: Uint32Array;
  constants: bigint[];
  constantNumbers: number[]; // the same, NaN where a double does not hold it exactly
  variables: string[];
}

export class FormulaError extends Error {}

const FUNCTIONS: Record<string, { op: Op; least: number; most: number }> = {
  floor_div: { op: Op.FloorDivide, least: 2, most: 2 },
  ceil_div: { op: Op.CeilDivide, least: 2, most: 2 },
  mod: { op: Op.Modulo, least: 2, most: 2 },
  min: { op: Op.Minimum, least: 1, most: Infinity },
  max: { op: Op.Maximum, least: 1, most: Infinity },
  expected_distinct: { op: Op.ExpectedDistinct, least: 3, most: 3 },
};

const BINARY: Record<string, { op: Op; precedence: number }> = {
  "+": { op: Op.Add, precedence: 1 },
  "-": { op: Op.Subtract, precedence: 1 },
  "*": { op: Op.Multiply, precedence: 2 },
};
const NEGATE_PRECEDENCE = 3;

type Pending =
  | { kind: "operator"; op: Op; precedence: number }
  | { kind: "group" }
  | { kind: "call"; name: string; arguments: number };

const TOKEN = /\s*(?:(\d+)|([A-Za-z_][A-Za-z0-9_]*)|([-+*(),]))/y;

class Compiler {
  private readonly ops: number[] = [];
  private readonly args: number[] = [];
  private readonly constants: bigint[] = [];
  private readonly variables: string[] = [];
  private readonly stack: Pending[] = [];
  private operand = false; // whether the last token ended an operand

  constructor(private readonly text: string) {}

  compile(): Program {
    TOKEN.lastIndex = 0;
    const end = this.text.trimEnd().length;
    let position = 0;
    while (position < end) {
      TOKEN.lastIndex = position;
      const match = TOKEN.exec(this.text);
      if (!match) this.fail(position, "an unexpected character");
      position = TOKEN.lastIndex;
      const [, digits, name, symbol] = match;
      if (digits !== undefined) this.constant(digits, position);
      else if (name !== undefined) position = this.name(name, position);
      else this.symbol(symbol as string, position);
    }
    if (!this.operand) this.fail(position, "an operand is missing");
    while (this.stack.length > 0) {
      if (this.stack.at(-1)?.kind !== "operator") this.fail(position, "a parenthesis is not closed");
      this.popOperator();
    }
    return {
      text: this.text,
      ops: Uint8Array.from(this.ops),
      args: Uint32Array.from(this.args),
      constants: this.constants,
      constantNumbers: this.constants.map((value) =>
        value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : NaN,
      ),
      variables: this.variables,
    };
  }

  private fail(position: number, what: string): never {
    const near = this.text.slice(Math.max(0, position - 12), position + 12);
    throw new FormulaError(`${what} at ${position} near "${near}"`);
  }

  private emit(op: Op, argument = 0) {
    this.ops.push(op);
    this.args.push(argument);
  }

  private popOperator() {
    const top = this.stack.pop();
    if (top?.kind === "operator") this.emit(top.op);
  }

  private popTighter(precedence: number) {
    for (;;) {
      const top = this.stack.at(-1);
      if (top?.kind !== "operator" || top.precedence < precedence) return;
      this.popOperator();
    }
  }

  private popToOpening(position: number): Pending {
    while (this.stack.at(-1)?.kind === "operator") this.popOperator();
    return this.stack.at(-1) ?? this.fail(position, "a parenthesis is not opened");
  }

  private beginOperand(position: number) {
    if (this.operand) this.fail(position, "an operator is missing");
  }

  private constant(digits: string, position: number) {
    this.beginOperand(position);
    if (digits.length > 60) this.fail(position, "an integer is too long");
    this.emit(Op.Constant, this.constants.push(BigInt(digits)) - 1);
    this.operand = true;
  }

  private name(name: string, position: number): number {
    this.beginOperand(position);
    if (Object.hasOwn(FUNCTIONS, name)) {
      const opening = /\s*\(/y;
      opening.lastIndex = position;
      if (!opening.test(this.text)) this.fail(position, `${name} needs arguments`);
      this.stack.push({ kind: "call", name, arguments: 1 });
      return opening.lastIndex;
    }
    let index = this.variables.indexOf(name);
    if (index < 0) index = this.variables.push(name) - 1;
    this.emit(Op.Variable, index);
    this.operand = true;
    return position;
  }

  private symbol(symbol: string, position: number) {
    if (symbol === "(") {
      this.beginOperand(position);
      this.stack.push({ kind: "group" });
    } else if (symbol === ")") {
      this.close(position);
    } else if (symbol === ",") {
      if (!this.operand) this.fail(position, "an operand is missing");
      const top = this.popToOpening(position);
      if (top.kind !== "call") this.fail(position, "a comma outside a function");
      else top.arguments += 1;
      this.operand = false;
    } else if (this.operand) {
      const { op, precedence } = BINARY[symbol] as { op: Op; precedence: number };
      this.popTighter(precedence);
      this.stack.push({ kind: "operator", op, precedence });
      this.operand = false;
    } else if (symbol === "-") {
      this.stack.push({ kind: "operator", op: Op.Negate, precedence: NEGATE_PRECEDENCE });
    } else {
      this.fail(position, "an operand is missing");
    }
  }

  private close(position: number) {
    if (!this.operand) this.fail(position, "an operand is missing");
    const top = this.popToOpening(position);
    this.stack.pop();
    if (top.kind !== "call") return;
    const { op, least, most } = FUNCTIONS[top.name] as { op: Op; least: number; most: number };
    if (top.arguments < least || top.arguments > most) {
      this.fail(position, `${top.name} does not take ${top.arguments} arguments`);
    }
    this.emit(op, top.arguments);
  }
}

// Throws FormulaError naming the place.
export function parseFormula(text: string): Program {
  return new Compiler(text).compile();
}
