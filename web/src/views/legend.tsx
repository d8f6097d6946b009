import type { BarName } from "../settings/settings.ts";
import { BAR_LABELS, BAR_TONES, isTime } from "../metrics/bar.ts";
import type { Session } from "./session.ts";

// What the bars' colours mean.
export function Legend({ session, bar }: { session: Session; bar: BarName }) {
  if (session.compared) {
    return (
      <span class="legend">
        <span class="key"><i class="swatch wide hot" />A</span>
        <span class="key"><i class="swatch tick" />B</span>
        <span class="key">{`bar = share of ${BAR_LABELS[bar].toLowerCase()} of A`}</span>
      </span>
    );
  }
  if (isTime(bar)) {
    return (
      <span class="legend">
        <span class="key"><i class="swatch wide hot" />together ≥ 80 % of the time here</span>
        <span class="key"><i class="swatch wide warm" />the rest</span>
      </span>
    );
  }
  return (
    <span class="legend">
      <span class="key"><i class={`swatch wide ${BAR_TONES[bar]}`} />{bar === "flops" ? "FLOPs" : BAR_LABELS[bar].toLowerCase()}</span>
    </span>
  );
}
