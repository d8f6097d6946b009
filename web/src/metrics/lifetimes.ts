// Which activations are alive while which operator runs, at one setting, on the folded graph: a stage
// is looked at in its first instance. A value lives from the operator that makes it through its last
// reader; inputs from the first, outputs to the last; views share the memory of what they view;
// weights and caches are not among them.
import type { Document, GraphNode } from "../document/types.ts";
import { nodesBelow } from "../document/level.ts";
import type { Evaluation } from "./evaluation.ts";

export interface Life {
  value: number;
  birth: number; // first and last step it is alive in
  death: number;
  bytes: number;
}

export interface Lifetimes {
  steps: number[]; // node ids, in execution order
  lives: Life[];
}

const cache = new WeakMap<Evaluation, Lifetimes>();

export function lifetimesOf(evaluation: Evaluation): Lifetimes {
  let known = cache.get(evaluation);
  if (!known) cache.set(evaluation, (known = new Finder(evaluation).find()));
  return known;
}

class Finder {
  private readonly document: Document;
  private readonly memory: Int32Array; // by value: the value whose memory it shares; -1: none of ours
  private readonly birth: Int32Array;
  private readonly death: Int32Array;
  private readonly stepOf: Int32Array;

  constructor(private readonly evaluation: Evaluation) {
    this.document = evaluation.document;
    const { values, nodes } = this.document;
    this.memory = new Int32Array(values.length).fill(-1);
    this.birth = new Int32Array(values.length).fill(-1);
    this.death = new Int32Array(values.length).fill(-1);
    this.stepOf = new Int32Array(nodes.length).fill(-1);
  }

  find(): Lifetimes {
    const steps = nodesBelow(this.document, 0).sort((a, b) => a - b).filter((id) => !(this.document.nodes[id] as GraphNode).foldedAtLoad);
    steps.forEach((id, step) => { this.stepOf[id] = step; });
    const last = Math.max(0, steps.length - 1);
    for (const value of this.document.values) if (value.role === "input") this.bear(value.id, value.id, 0);
    for (const id of steps) this.run(this.document.nodes[id] as GraphNode, this.stepOf[id] as number);
    for (const value of this.document.values) if (value.role === "output") this.use(value.id, last);
    this.extendCarried();
    const lives: Life[] = [];
    for (const value of this.document.values) {
      if (this.memory[value.id] !== value.id || this.birth[value.id] === -1) continue;
      const bytes = Number(this.evaluation.formula(value.bytes) ?? 0n);
      lives.push({ value: value.id, birth: this.birth[value.id] as number, death: this.death[value.id] as number, bytes });
    }
    return { steps, lives };
  }

  private bear(value: number, memory: number, step: number) {
    this.memory[value] = memory;
    if (this.birth[memory] === -1) this.birth[memory] = step;
    this.use(value, step);
  }

  private use(value: number, step: number) {
    const memory = this.memory[value] as number;
    if (memory >= 0) this.death[memory] = Math.max(this.death[memory] as number, step);
  }

  private run(node: GraphNode, step: number) {
    for (const input of node.inputs) if (input !== null) this.use(input, step);
    const viewed = node.view ? node.inputs.find((input) => input !== null && (this.memory[input] as number) >= 0) : undefined;
    for (const output of node.outputs) {
      if (output === null || this.document.values[output]?.role === "cache") continue;
      this.bear(output, viewed === undefined || viewed === null ? output : (this.memory[viewed] as number), step);
    }
  }

  // What a stage hands from one instance to the next lives to the stage's end.
  private extendCarried() {
    for (const module of this.document.modules) {
      if (module.carried.length === 0) continue;
      const end = Math.max(...nodesBelow(this.document, module.id).map((id) => this.stepOf[id] as number));
      for (const [produced] of module.carried) this.use(produced, end);
    }
  }
}

// Bytes alive at each step.
export function aliveBytes({ steps, lives }: Lifetimes): Float64Array {
  const change = new Float64Array(steps.length + 1);
  for (const { birth, death, bytes } of lives) {
    change[birth] = (change[birth] as number) + bytes;
    change[death + 1] = (change[death + 1] as number) - bytes;
  }
  for (let i = 1; i < change.length; ++i) change[i] = (change[i] as number) + (change[i - 1] as number);
  return change.subarray(0, steps.length);
}

const MOST_PACKED = 1500;

// What an arena needs that places the largest first, each at the lowest offset free over its life.
export function packedBytes({ lives }: Lifetimes): number | null {
  if (lives.length > MOST_PACKED) return null;
  const placed: (Life & { offset: number })[] = [];
  let size = 0;
  for (const life of [...lives].sort((a, b) => b.bytes - a.bytes)) {
    const inTheWay = placed.filter((other) => other.birth <= life.death && life.birth <= other.death).sort((a, b) => a.offset - b.offset);
    let offset = 0;
    for (const other of inTheWay) {
      if (offset + life.bytes <= other.offset) break;
      offset = Math.max(offset, other.offset + other.bytes);
    }
    placed.push({ ...life, offset });
    size = Math.max(size, offset + life.bytes);
  }
  return size;
}
