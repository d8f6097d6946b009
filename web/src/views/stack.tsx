// The stacked memory bar on the device's own scale. Over budget the scale becomes the total, the
// capacity mark moves left and everything beyond it is hatched.
export interface Part {
  name: string;
  tone: string;
  bytes: bigint;
}

export function Stack({ parts, capacity, compact }: { parts: Part[]; capacity: bigint | null; compact?: boolean }) {
  const total = parts.reduce((sum, part) => sum + part.bytes, 0n);
  const scale = Number(capacity !== null && capacity > total ? capacity : total) || 1;
  const over = capacity !== null && total > capacity;
  const mark = capacity === null ? null : Number(capacity) / scale;
  let from = 0;
  const spans = parts.flatMap((part) => {
    const left = from;
    from += Number(part.bytes) / scale;
    const end = over && mark !== null ? Math.min(from, mark) : from;
    return part.bytes > 0n && end > left ? [{ ...part, left, width: end - left }] : [];
  });
  const percent = (value: number) => `${value * 100}%`;
  return (
    <div class={compact ? "stack compact" : "stack"} aria-hidden="true">
      {spans.map((span) => (
        <span key={span.name} class={`stack-part ${span.tone}`} style={{ left: percent(span.left), width: `max(2px, calc(${percent(span.width)} - 1px))` }} />
      ))}
      {over && mark !== null && <span class="stack-over" style={{ left: percent(mark), width: percent(1 - mark) }} />}
      {mark !== null && <span class="stack-mark" style={{ left: `calc(${percent(mark)} - 2px)` }} />}
    </div>
  );
}
