// The small dialogs: keys, and what the document does not know or assumes.
import { Dialog } from "./dom.tsx";
import { reservations } from "./reservations.ts";
import { moduleOf, nodeOf, type Session } from "./session.ts";

const KEYS: [string, string][] = [
  ["arrows", "the next object in that direction; rows in the table"], ["Enter", "open the selected object"],
  ["Backspace", "up; the module left is selected"], ["Escape", "close overlay, then details"],
  ["P D", "prefill, decode"], ["[ ]", "halve, double the batch"], ["1 2 3", "graph, table, peak"],
  ["M", "next bar metric"], ["O", "share of view or model"], ["X", "all instances or one"], ["/", "find"],
  ["F + - 0", "fit, zoom, 100 %"], ["C E I W T", "compare, export, assumptions, findings, theme"], ["?", "these keys"],
];

export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([keys, text]) => (
          <div key={keys}>
            <dt>{keys.split(" ").map((key) => <kbd key={key}>{key}</kbd>)}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p class="light">Keys are off while a field has the focus.</p>
    </Dialog>
  );
}

export function AssumptionsDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const { list } = reservations(session);
  const { document, actions } = session;
  const conventions = document.conventions;
  return (
    <Dialog title="What this document does not know, and what it assumes" onClose={onClose} class="wide">
      {list.length === 0 && <p>Nothing is unknown and nothing is assumed.</p>}
      {list.map((entry, index) => (
        <div key={index} class="reservation">
          <span class={`tag ${entry.tag}`}>{entry.tag}</span>
          <div>
            <p class="row"><strong class="mono">{entry.code}</strong><span>{entry.extent}</span></p>
            <p class="light">
              {entry.text}{" "}
              {entry.target && <button type="button" class="small" onClick={() => {
                const target = entry.target!;
                onClose();
                if (target.kind === "module") actions.goTo(moduleOf(document, target.id).parent ?? 0, `m${target.id}`);
                else actions.goTo(nodeOf(document, target.id).module, `n${target.id}`);
              }}>show</button>}
            </p>
          </div>
        </div>
      ))}
      {conventions.length > 0 && <h3>Conventions</h3>}
      {conventions.map(([name, sentence]) => <p key={name} class="convention"><strong class="mono">{name}</strong> {sentence}</p>)}
    </Dialog>
  );
}
