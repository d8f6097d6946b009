// The device table of models/devices as the page has it: no sources, no prose, and each device with the
// efficiencies that hold for it: its own where it was measured, else those of its efficiency class.
import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), "../models/devices");
const MEMBERS = [
  "id", "name", "vendor", "class", "grade", "memory", "bandwidth_bytes_per_second",
  "dense_operations_per_second", "accumulate", "link",
];
const EXACT = { low: 1, high: 1 };

async function objects(inside) {
  const files = (await readdir(inside).catch(() => [])).filter((name) => name.endsWith(".json")).sort();
  return Promise.all(files.map(async (file) => JSON.parse(await readFile(path.join(inside, file), "utf8"))));
}

const withoutSource = (kinds) => Object.fromEntries(Object.entries(kinds).filter(([kind]) => kind !== "source"));

export async function deviceTable() {
  const classes = new Map((await objects(path.join(folder, "classes"))).map((entry) => [entry.id, entry]));
  return (await objects(folder)).map((device) => {
    const calibrated = device.efficiency !== undefined;
    const { efficiency, band } = calibrated ? { efficiency: device.efficiency, band: EXACT } : classes.get(device.efficiency_class);
    const members = Object.fromEntries(MEMBERS.map((name) => [name, device[name]]));
    return { ...members, efficiency: withoutSource(efficiency), band, calibrated };
  });
}
