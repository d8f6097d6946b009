// A device as models/devices describes it, and what that says of a dtype.
export interface Efficiency {
  launch_seconds: number;
  memory: number; // fraction of the bandwidth reached
  compute: number; // fraction of the dense peak reached
}

export interface Device {
  id: string;
  name: string;
  vendor: string;
  class: string;
  grade: string;
  memory: { bytes?: number; usable_fraction?: number; label?: string };
  bandwidth_bytes_per_second: number;
  dense_operations_per_second: Record<string, number>;
  accumulate: string;
  // By kind of work; "matmul" stands for those left out. Its own, or those of its class.
  efficiency: Record<string, Efficiency>;
  calibrated: boolean; // its own were measured
  band: { low: number; high: number }; // how far measured times lie from estimates, as factors
  link?: { kind?: string; bytes_per_second?: number }; // in one direction
}

export function usableMemory(device: Device): bigint | null {
  const { bytes, usable_fraction = 1 } = device.memory;
  return bytes === undefined ? null : BigInt(Math.floor(bytes * usable_fraction));
}

// Types that can do the work of a dtype, best first.
function peakNames(dtype: string): string[] {
  if (/^(fp4|nvfp4|mxfp4|float4|f4)/.test(dtype)) return ["fp4", "fp8", "f16", "bf16", "f32"];
  if (/^(fp8|float8|f8|fp6|f6|mxfp8)/.test(dtype)) return ["fp8", "f16", "bf16", "f32"];
  if (/^u?int[248]$/.test(dtype)) return ["int8", "f16", "bf16", "f32"];
  if (dtype === "bf16") return ["bf16", "f16", "f32"];
  if (dtype === "f16") return ["f16", "bf16", "f32"];
  return ["tf32", "f32", "f16", "bf16"];
}

export function peakOperations(device: Device, dtype: string): number | null {
  const peaks = device.dense_operations_per_second;
  const name = peakNames(dtype).find((candidate) => peaks[candidate] !== undefined);
  return name !== undefined ? (peaks[name] as number) : (Object.values(peaks)[0] ?? null);
}

export const efficiencyOf = (device: Device, kind: string): Efficiency =>
  (device.efficiency[kind] ?? device.efficiency.matmul) as Efficiency;
