// Time of one step: per operator `launch + max(FLOPs/(ηc·peak), bytes/(ηm·bandwidth))`, summed. The
// bound of a part is `max(Σ FLOPs/peak, Σ compulsory bytes/bandwidth)`; the two are never mixed.
import type { Evaluation } from "../metrics/evaluation.ts";
import type { GraphNode, Item, MetricName, Module } from "../document/types.ts";
import { efficiencyOf, peakOperations, type Device } from "./device.ts";

export type Bound = "memory" | "compute" | "launch" | "none";

export interface Time {
  estimate: number; // seconds, all instances
  ideal: number; // the bound
  idealCompute: number; // FLOPs at the dense peak
  memory: number; // the parts of the estimate that each kind binds
  compute: number;
  launch: number;
  partial: boolean; // something under it has unknown work
}

const NOTHING: Time = { estimate: 0, ideal: 0, idealCompute: 0, memory: 0, compute: 0, launch: 0, partial: false };

export function boundBy(time: Time): Bound {
  const { memory, compute, launch } = time;
  if (memory + compute + launch === 0) return "none";
  return memory >= compute && memory >= launch ? "memory" : compute >= launch ? "compute" : "launch";
}

const TRAFFIC: MetricName[] = [
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
    for (const node of document.nodes) add(this.modules[node.module] as Time, this.nodes[node.id] as Time);
    for (const module of [...document.modules].reverse()) {
      const time = this.modules[module.id] as Time;
      if (module.parent !== null) add(this.modules[module.parent] as Time, time);
    }
    for (const module of document.modules) {
      const time = this.modules[module.id] as Time;
      const compulsory = this.total(module.metrics, COMPULSORY) / device.bandwidth_bytes_per_second;
      time.ideal = Math.max(time.idealCompute, compulsory);
    }
  }

  of(item: Item): Time {
    return ((item.kind === "module" ? this.modules : this.nodes)[item.id] ?? NOTHING) as Time;
  }

  private number(metrics: Module["metrics"], name: MetricName): number | null {
    const value = this.evaluation.amount(metrics[name]).value;
    return value === null ? null : Number(value);
  }

  private total(metrics: Module["metrics"], names: MetricName[]): number {
    let bytes = 0;
    for (const name of names) bytes += this.number(metrics, name) ?? 0;
    return bytes;
  }

  private nodeTime(node: GraphNode): Time {
    if (node.view || node.foldedAtLoad || isShapeArithmetic(this.evaluation, node)) return NOTHING;
    const flops = this.number(node.metrics, "flops");
    const elementwise = this.number(node.metrics, "elementwise_flops");
    const bytes = this.total(node.metrics, TRAFFIC);
    if (flops === 0 && elementwise === 0 && bytes === 0) return NOTHING;
    const { memory, compute, launch_seconds } = efficiencyOf(this.device, workKind(node));
    const peak = peakOperations(this.device, node.computeDtype) ?? Infinity;
    const vector = this.device.dense_operations_per_second.f32 ?? peak;
    const computeIdeal = (flops ?? 0) / peak + (elementwise ?? 0) / vector;
    const computeTime = computeIdeal / compute;
    const memoryTime = bytes / (memory * this.device.bandwidth_bytes_per_second);
    const launch = launch_seconds * node.multiplicity;
    const busy = Math.max(computeTime, memoryTime);
    return {
      estimate: launch + busy,
      ideal: Math.max(computeIdeal, bytes / this.device.bandwidth_bytes_per_second),
      idealCompute: computeIdeal,
      memory: memoryTime >= computeTime ? memoryTime : 0,
      compute: memoryTime >= computeTime ? 0 : computeTime,
      launch,
      partial: flops === null || elementwise === null,
    };
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
  if (/attention/i.test(node.opType)) return "attention";
  return /^(fp8|float8|f8)/.test(node.computeDtype) ? "matmul_fp8" : "matmul";
}

// Shapes and indices of a handful of elements live on the host and launch nothing.
function isShapeArithmetic(evaluation: Evaluation, node: GraphNode): boolean {
  if (/^(Constant|Shape|Size)$/.test(node.opType)) return true;
  return node.outputs.every((output) => {
    const value = output === null ? undefined : evaluation.document.values[output];
    if (!value) return true;
    const bytes = evaluation.formula(value.bytes);
    return /^(int64|int32|bool)$/.test(value.dtype) && bytes !== null && bytes <= 128n;
  });
}
