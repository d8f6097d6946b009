import { formatBytes, formatCount, formatParameters, formatTime } from "../format/number.ts";
import { kindOf, linkOf } from "./card.tsx";
import type { Load } from "./landing.tsx";
import type { Priced } from "./price.ts";

const text = (value: bigint | null) => (value === null ? "unknown" : formatBytes(value));

// The cards' numbers, one row per model.
export function LandingTable({ priced, capacity, load }: { priced: Priced[]; capacity: bigint | null; load: Load }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Models">
      <table>
        <thead>
          <tr>
            <th scope="col">Model</th>
            {["Params", "Needed", capacity === null ? "" : "Free", "Weights", "KV cache", "State", "Act. peak", "KV / token", "FLOPs", capacity === null ? "" : "Step ≥"].filter((name) => name !== "")
              .map((name) => <th key={name} scope="col" class="number">{name}</th>)}
            <th scope="col">Kind</th>
          </tr>
        </thead>
        <tbody>
          {priced.map((entry) => {
            const { model, total, parts, perToken, flops, over } = entry;
            return (
              <tr key={model.name}>
                <th scope="row"><a href={linkOf(entry, load)}>{model.name}</a></th>
                <td class="number">{model.parameters === null ? "unknown" : formatParameters(model.parameters)}</td>
                <td class="number"><strong>{text(total)}</strong></td>
                {capacity !== null && <td class={over ? "number over" : "number"}>{total === null ? "unknown" : over ? `✕ ${formatBytes(total - capacity)} over` : formatBytes(capacity - total)}</td>}
                {[parts.weights, parts.kv, parts.state, parts.activation, perToken].map((value, index) => (
                  <td key={index} class={value === 0n ? "number zero" : "number"}>{text(value)}</td>
                ))}
                <td class="number">{flops === null ? "unknown" : formatCount(flops)}</td>
                {capacity !== null && <td class="number">{entry.bound === null ? "unknown" : formatTime(entry.bound)}</td>}
                <td>{kindOf(entry)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
