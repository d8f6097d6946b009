// The device table of models/devices, built into the page.
import table from "kcharter:devices";
import type { Device } from "./device.ts";

export const DEVICES: readonly Device[] = [...table].sort((a, b) => a.name.localeCompare(b.name));

export const findDevice = (id: string | null): Device | null =>
  DEVICES.find((device) => device.id === id) ?? null;
