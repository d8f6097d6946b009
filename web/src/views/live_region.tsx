import { formatBytes } from "../format/number.ts";
import { usableMemory } from "../time/device.ts";
import { moduleLabel, type Session } from "./session.ts";

// Speaks the view and whether the model fits, after a change.
export function LiveRegion({ session }: { session: Session }) {
  const total = session.evaluation.summary("total_bytes").value;
  const capacity = session.device ? usableMemory(session.device) : null;
  const verdict = total === null ? "memory unknown"
    : capacity === null ? `${formatBytes(total)} needed`
    : `${formatBytes(total)} needed, ${total <= capacity ? "fits" : "does not fit"}`;
  return <p class="unseen" aria-live="polite">{moduleLabel(session.level.module)}, {session.settings.view}, {verdict}</p>;
}
