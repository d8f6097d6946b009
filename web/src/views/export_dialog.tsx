import { Dialog, copyText } from "./dom.tsx";
import { drawingSvg, savePng, saveText, tableCsv, viewMarkdown } from "./export.ts";
import { columnsOf, rowsOf, totalRow } from "./table_model.ts";
import type { Session } from "./session.ts";

// The whole view as a picture, the table with raw integers, a summary, or the link.
export function ExportDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const { document: model, level, actions } = session;
  const name = [model.model.name, model.mode, level.module.path].filter((part) => part !== "").join(".").replace(/[^\w.\-[\]]+/g, "_").slice(0, 150);
  const graph = document.querySelector<SVGSVGElement>(".graph .canvas svg");
  const table = () => ({ rows: rowsOf(session), columns: columnsOf(session), total: totalRow(session) });
  const done = (text: string) => {
    actions.say(text);
    onClose();
  };
  const noGraph = graph ? undefined : "Open the graph first.";
  return (
    <Dialog title="Export" onClose={onClose}>
      <div class="choices">
        <button type="button" disabled={!graph} title={noGraph} onClick={() => { saveText(`${name}.svg`, drawingSvg(graph!), "image/svg+xml"); done(`${name}.svg saved.`); }}>SVG <span class="light">the whole view</span></button>
        <button type="button" disabled={!graph} title={noGraph} onClick={() => { void savePng(`${name}.png`, drawingSvg(graph!)).then(() => done(`${name}.png saved.`), () => done("The browser could not draw the picture.")); }}>PNG <span class="light">twice the size</span></button>
        <button type="button" onClick={() => { saveText(`${name}.csv`, tableCsv(session, table()), "text/csv"); done(`${name}.csv saved.`); }}>CSV <span class="light">the table, exact integers and formulas</span></button>
        <button type="button" onClick={() => { saveText(`${name}.md`, viewMarkdown(session, table()), "text/markdown"); done(`${name}.md saved.`); }}>Markdown <span class="light">a summary of this view</span></button>
        <button type="button" onClick={() => { void copyText(location.href).then((ok) => done(ok ? "Link copied." : location.href)); }}>Link <span class="light">this view with its settings</span></button>
        <button type="button" onClick={() => { onClose(); setTimeout(() => window.print(), 50); }}>Print</button>
      </div>
    </Dialog>
  );
}
