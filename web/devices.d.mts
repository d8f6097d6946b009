import type { Device } from "./src/time/device.ts";
export function deviceTable(): Promise<Device[]>;
