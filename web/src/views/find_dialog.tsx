import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { find, parseQuery, type Found } from "../document/find.ts";
import { formatBytes, formatPercent } from "../format/number.ts";
import { barValue } from "../metrics/bar.ts";
import { Dialog } from "./dom.tsx";
import { moduleOf, nodeOf, type Session } from "./session.ts";

const MOST = 200;

// `/`: modules, operators and tensors by words of the path, sorted by the bar's metric.
export function FindDialog({ session, query: begin, onClose }: { session: Session; query: string; onClose: () => void }) {
  const [text, setText] = useState(begin);
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const { document, evaluation, measure, actions } = session;
  const query = parseQuery(text);
  const found = useMemo(() => {
    const weights = (item: Found["item"]) => Number(evaluation.metric(item, "weight_bytes").value ?? 0n);
    const all = text.trim() === "" ? [] : find(document, query, weights);
    const sized = all.map((entry) => ({ entry, size: entry.tensor ? 0 : (barValue(measure, entry.item).size ?? 0) }));
    return sized.sort((a, b) => b.size - a.size);
  }, [text, evaluation, measure]);
  const whole = barValue(measure, { kind: "module", id: 0 }).size ?? 0;
  const shown = found.slice(0, MOST);

  const go = (entry: Found) => {
    onClose();
    const { item } = entry;
    if (entry.tensor) actions.goTo(item.id);
    else if (item.kind === "module") actions.goTo(moduleOf(document, item.id).parent ?? 0, `m${item.id}`);
    else actions.goTo(nodeOf(document, item.id).module, `n${item.id}`);
  };
  useEffect(() => setAt(0), [text]);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const key = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt((now) => Math.min(shown.length - 1, now + 1));
    else if (event.key === "ArrowUp") setAt((now) => Math.max(0, now - 1));
    else if (event.key === "Enter" && shown[at]) go(shown[at].entry);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Find" onClose={onClose} class="find">
      <input
        type="text" class="find-field" autofocus spellcheck={false} role="combobox" aria-expanded="true" aria-controls="found"
        aria-activedescendant={shown[at] ? `found-${at}` : undefined} aria-label="Find modules, operators, tensors"
        placeholder="words of the path, op:MatMul, dtype:bf16, >1GiB, unknown, /regex/" value={text}
        onInput={(event) => setText(event.currentTarget.value)} onKeyDown={key}
      />
      <ul id="found" role="listbox" aria-label="Found" ref={list}>
        {shown.map(({ entry, size }, index) => (
          <li key={index} id={`found-${index}`} role="option" aria-selected={index === at} onClick={() => go(entry)}>
            <span class="found-name"><strong>{entry.title}</strong> {entry.name}{entry.times > 1 && ` × ${entry.times}`}</span>
            <span class="number">{weightText(session, entry)}</span>
            <span class="number share">{entry.tensor || whole === 0 ? "" : formatPercent(size / whole)}</span>
            <span class="mono path">{entry.path}</span>
          </li>
        ))}
      </ul>
      <p class="light find-note">{noteOf(text, query.error, found.length)}</p>
    </Dialog>
  );
}

function weightText({ evaluation, document }: Session, entry: Found): string {
  if (entry.tensor) {
    const tensor = document.tensors.find((candidate) => candidate.name === entry.tensor);
    return tensor ? formatBytes(tensor.bytes * BigInt(tensor.instances)) : "";
  }
  const weights = evaluation.metric(entry.item, "weight_bytes").value;
  return weights ? formatBytes(weights) : "";
}

function noteOf(text: string, error: string | null, count: number): string {
  if (error) return error;
  if (text.trim() === "") return "Modules, operators and tensors of the whole model.";
  if (count === 0) return "Nothing matches. Fewer words find more.";
  return count > MOST ? `The first ${MOST} of ${count}.` : `${count} found.`;
}
