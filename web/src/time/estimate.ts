// Time of one step, as two numbers that are never mixed. The estimate, per operator and summed:
// `launches · t0 + max(FLOPs/(ηc·peak), bytes/(ηm·bandwidth))`. The bound of a part:
// `max(Σ FLOPs/peak, Σ compulsory bytes/bandwidth)`, compulsory being what no fusion avoids: weights,
// cache and state, and for the whole model its inputs and outputs. The program computes the same.
import type { Evaluation } from "../metrics/evaluation.ts";
import type { GraphNode, Item, MetricName, Module } from "../document/types.ts";
import { efficiencyOf, peakOperations, type Device } from "./device.ts";

export type Bound = "memory" | "compute" | "launch" | "none";

export interface Time {
  estimate: number; // seconds, all instances
  ideal: number; // the bound
  idealCompute: number; // its FLOPs at the dense peak
  memory: number; // the parts of the estimate, by what binds each operator
  compute: number;
  launch: number;
  partial: boolean; // something under it has unknown work: a lower bound
}

const NOTHING: Time = { estimate: 0, ideal: 0, idealCompute: 0, memory: 0, compute: 0, launch: 0, partial: false };

export function boundBy(time: Time): Bound {
  if (time.estimate === 0) return "none";
  if (time.launch >= Math.max(time.compute, time.memory)) return "launch";
  return time.compute > time.memory ? "compute" : "memory";
}

const MOVED: MetricName[] = [
  "weight_read_bytes", "kv_read_bytes", "kv_write_bytes", "activation_read_bytes", "activation_write_bytes",
];
const COMPULSORY: MetricName[] = ["weight_read_bytes", "kv_read_bytes", "kv_write_bytes"];

export class StepTime {
  private readonly nodes: Time[];
  private readonly modules: Time[];

  constructor(
    private readonly evaluation: Evaluation,
    readonly device: Device,
  ) {
    const { document } = evaluation;
    this.nodes = document.nodes.map((node) => this.nodeTime(node));
    this.modules = document.modules.map(() => ({ ...NOTHING }));
    const compulsory = new Float64Array(document.modules.length);
    for (const node of document.nodes) {
      add(this.modules[node.module] as Time, this.nodes[node.id] as Time);
      compulsory[node.module] = (compulsory[node.module] as number) + this.strict(node.metrics, COMPULSORY);
    }
    for (const { id, parent } of [...document.modules].reverse()) {
      if (parent === null) continue;
      add(this.modules[parent] as Time, this.modules[id] as Time);
      compulsory[parent] = (compulsory[parent] as number) + (compulsory[id] as number);
    }
    compulsory[0] = (compulsory[0] as number) + this.boundaryBytes();
    this.modules.forEach((time, id) => {
      time.ideal = Math.max(time.idealCompute, (compulsory[id] as number) / device.bandwidth_bytes_per_second);
    });
  }

  of(item: Item): Time {
    return ((item.kind === "module" ? this.modules : this.nodes)[item.id] ?? NOTHING) as Time;
  }

  // The estimate's band; none on a calibrated device.
  band(item: Item): { low: number; high: number } | null {
    const { band, calibrated } = this.device;
    if (calibrated) return null;
    const { estimate, ideal } = this.of(item);
    const low = Math.max(ideal, estimate * band.low);
    return { low, high: Math.max(low, estimate * band.high) };
  }

  private strict(metrics: Module["metrics"], names: MetricName[]): number {
    let total = 0;
    for (const name of names) total += Number(this.evaluation.fewestExperts(metrics[name]?.formula ?? null) ?? 0n);
    return total;
  }

  // Bytes of the model's inputs and outputs that are not cache.
  private boundaryBytes(): number {
    let bytes = 0;
    for (const value of this.evaluation.document.values) {
      if (value.role === "input" || value.role === "output") bytes += Number(this.evaluation.formula(value.bytes) ?? 0n);
    }
    return bytes;
  }

  private nodeTime(node: GraphNode): Time {
    const flops = this.evaluation.amount(node.metrics.flops);
    const moved = MOVED.map((name) => this.evaluation.amount(node.metrics[name]));
    const bytes = moved.reduce((total, { value }) => total + Number(value ?? 0n), 0);
    const { memory, compute, launch_seconds } = efficiencyOf(this.device, workKind(node));
    const peak = peakOperations(this.device, node.computeDtype) ?? Infinity;
    const bandwidth = this.device.bandwidth_bytes_per_second;
    const computeTime = Number(flops.value ?? 0n) / (compute * peak);
    const memoryTime = bytes / (memory * bandwidth);
    const launch = launch_seconds * this.launches(node, bytes);
    const idealCompute = this.strict(node.metrics, ["flops"]) / peak;
    const isPartial = [flops, ...moved].some(({ exactness }) => exactness === "unknown" || exactness === "lower_bound");
    return {
      estimate: launch + Math.max(computeTime, memoryTime),
      ideal: Math.max(idealCompute, this.strict(node.metrics, MOVED) / bandwidth),
      idealCompute,
      memory: computeTime > memoryTime ? 0 : memoryTime,
      compute: computeTime > memoryTime ? computeTime : 0,
      launch,
      partial: isPartial,
    };
  }

  private launches(node: GraphNode, bytes: number): number {
    if (node.launches !== null) return node.launches;
    return node.view || node.foldedAtLoad || bytes === 0 ? 0 : node.multiplicity;
  }
}

function add(into: Time, part: Time) {
  into.estimate += part.estimate;
  into.idealCompute += part.idealCompute;
  into.memory += part.memory;
  into.compute += part.compute;
  into.launch += part.launch;
  into.partial ||= part.partial;
}

function workKind(node: GraphNode): string {
  if (node.work !== null) return node.work;
  if (/attention/i.test(node.opType)) return "attention";
  return /^(fp8|float8|f8)/.test(node.computeDtype) ? "matmul_fp8" : "matmul";
}
