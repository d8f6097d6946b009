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
  link?: { kind?: string; bytes_per_second?: number }; // in one direction
  efficiency?: Record<string, Efficiency | string>;
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

// What decode of whole models reaches on devices that have no measurements of their own.
function classEfficiency(device: Device): Efficiency {
  const of = (launch_seconds: number, memory: number, compute: number) => ({ launch_seconds, memory, compute });
  if (device.vendor === "Apple") return of(4e-6, 0.8, 0.6);
  if (device.class.endsWith("SoC")) return of(2e-6, 0.8, 0.6);
  if (device.class === "consumer GPU" || device.class === "workstation GPU") return of(1e-6, 0.82, 0.6);
  if (device.class.endsWith("CPU")) return of(2e-6, 0.6, 0.5);
  return of(3e-6, 0.7, 0.6);
}

export function efficiencyOf(device: Device, kind: string): Efficiency {
  const found = device.efficiency?.[kind] ?? device.efficiency?.matmul;
  return typeof found === "object" ? found : classEfficiency(device);
}

export const isCalibrated = (device: Device) => device.efficiency !== undefined;
