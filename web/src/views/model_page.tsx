// kcharter.html: one document, from the whole model to one operator.
import { useEffect, useState } from "preact/hooks";
import { DocumentError } from "../document/reader.ts";
import type { Document } from "../document/types.ts";
import { safeDocumentPath, type Library } from "../load/library.ts";
import { CompareDialog } from "./compare_dialog.tsx";
import { AssumptionsDialog, KeysDialog } from "./dialogs.tsx";
import { Drawer } from "./drawer.tsx";
import { useDrop } from "./drop_zone.tsx";
import { ErrorPage } from "./error_page.tsx";
import { ExportDialog } from "./export_dialog.tsx";
import { FindingsDialog } from "./findings_dialog.tsx";
import { FindDialog } from "./find_dialog.tsx";
import { Graph } from "./graph.tsx";
import { BOX_LIMIT, shownLevel } from "./graph_model.ts";
import { Header } from "./header.tsx";
import { useKeys } from "./keyboard.ts";
import { LiveRegion } from "./live_region.tsx";
import { MemoryPanel } from "./memory_panel.tsx";
import { usePage } from "./page_state.ts";
import { PeakView } from "./peak.tsx";
import { Strip } from "./strip.tsx";
import { TableView } from "./table.tsx";
import { toggleTheme } from "./theme.ts";
import { Toolbar, Totals } from "./toolbar.tsx";
import type { Session } from "./session.ts";

type Loaded = { kind: "waiting" } | { kind: "failed"; error: unknown } | { kind: "open"; name: string; document: Document };

export function ModelPage({ library, name }: { library: Library; name: string | null }) {
  const [loaded, setLoaded] = useState<Loaded>({ kind: "waiting" });
  const open = (file: string, text: string) => {
    try {
      setLoaded({ kind: "open", name: file, document: library.add(file, text) });
    } catch (error) {
      setLoaded({ kind: "failed", error });
    }
  };
  useEffect(() => {
    const path = name === null ? null : library.holds(name) ? name : safeDocumentPath(name);
    if (path === null) {
      setLoaded({ kind: "failed", error: refused(name) });
      return;
    }
    library.open(path).then(
      (document) => setLoaded({ kind: "open", name: path, document }),
      (error: unknown) => setLoaded({ kind: "failed", error }));
  }, [name]);
  if (loaded.kind === "open") {
    return <Opened document={loaded.document} name={loaded.name} library={library}
      setDocument={(file, document) => setLoaded({ kind: "open", name: file, document })} />;
  }
  return <Frame name={name ?? ""}>{loaded.kind === "failed" ? <ErrorPage error={loaded.error} onOpen={open} /> : <Waiting name={name ?? ""} />}</Frame>;
}

function refused(name: string | null): DocumentError {
  if (name === null) {
    return new DocumentError("No document is named", "The address should end in `?doc=generated/NAME.MODE.json`.", [],
      "Choose a model from the list, or drop a document here.");
  }
  return new DocumentError("This address is refused", "`?doc=` takes only a path below this page's own folder that ends in .json.",
    [["doc", name.slice(0, 200)]], "Choose a model from the list, or drop the document here.");
}

// The page's outline without a document.
function Frame({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div class="page without">
      <header class="top">
        <a class="home" href="index.html">kcharter</a>
        <div class="who"><h1>{name.slice(name.lastIndexOf("/") + 1) || "no document"}</h1></div>
      </header>
      <aside class="memory" aria-label="Memory"><section><h2>Memory</h2><p class="light">No document yet.</p></section></aside>
      <main class="middle">{children}</main>
      <Footer />
    </div>
  );
}

// Nothing for 150 ms, then grey boxes and the file's name.
function Waiting({ name }: { name: string }) {
  return (
    <div class="waiting" role="status">
      <span class="ghost" /><span class="ghost" /><span class="ghost" />
      <p class="light">Opening {name}</p>
    </div>
  );
}

const OVERLAID_DRAWER = 344; // px, as style/responsive.css has it

function Opened(props: { document: Document; name: string; library: Library; setDocument: (name: string, document: Document) => void }) {
  const page = usePage(props.document, props.library, props.setDocument, props.name);
  const { session, overlay, query, note, details, missing } = page;
  const { actions, settings, level } = session;
  useKeys(session, overlay);
  useDrop(actions.openText);
  useEffect(() => {
    document.title = `${session.document.model.name} · ${level.module.path || "model"} · kcharter`;
  }, [session.document, level]);
  useEffect(() => { performance.mark("kcharter-ready"); }, []);
  const close = () => actions.show(null);
  const tooMany = shownLevel(session).boxes.length > BOX_LIMIT;
  const noGraph = level.boxes.length === 0;
  const view = settings.view === "graph" && (tooMany || noGraph) ? "table" : settings.view;
  return (
    <div class={details ? "page with-drawer" : "page"}>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>To the graph</a>
      <Header session={session} />
      <MemoryPanel session={session} />
      <main class="middle" id="main" tabIndex={-1}>
        <Toolbar session={session} />
        <Totals session={session} />
        {missing !== null && <p class="notice">This document has no <code>{missing}</code>; this is the nearest module above it.</p>}
        {settings.view === "graph" && tooMany && <TooMany session={session} />}
        <div class="stage">
          {view === "graph" ? <Graph session={session} covered={details && matchMedia("(min-width: 761px) and (max-width: 1240px)").matches ? OVERLAID_DRAWER : 0} /> : view === "table" ? <TableView session={session} /> : <PeakView session={session} />}
          {details && <Drawer key={`${details.kind}${details.id}`} session={session} item={details} />}
        </div>
        <Strip session={session} />
      </main>
      <Footer version={session.document.schemaVersion} onKeys={() => actions.show("keys")} />
      {note !== null && <p class="toast" role="status">{note}</p>}
      <LiveRegion session={session} />
      {overlay === "keys" && <KeysDialog onClose={close} />}
      {overlay === "assumptions" && <AssumptionsDialog session={session} onClose={close} />}
      {overlay === "findings" && <FindingsDialog session={session} onClose={close} />}
      {overlay === "find" && <FindDialog session={session} query={query} onClose={close} />}
      {overlay === "export" && <ExportDialog session={session} onClose={close} />}
      {overlay === "compare" && <CompareDialog session={session} library={props.library} onClose={close} />}
    </div>
  );
}

function TooMany({ session }: { session: Session }) {
  return (
    <p class="notice">
      {session.level.boxes.length} parts in this view: more than a graph of {BOX_LIMIT} boxes shows well, so here is the table.
    </p>
  );
}

function Footer({ version, onKeys }: { version?: string; onKeys?: () => void }) {
  return (
    <footer class="foot">
      <span>1 MAC = 2 FLOPs</span><span>causal half counted</span><span>dense peaks</span><span>≈ estimated, ≥ lower bound</span>
      <span class="spring" />
      {version && <span>schema {version}</span>}
      <button type="button" onClick={toggleTheme}>Dark or light <kbd>T</kbd></button>
      {onKeys && <button type="button" onClick={onKeys}>Keys <kbd>?</kbd></button>}
    </footer>
  );
}

export const documentInAddress = (): string | null => new URLSearchParams(location.search).get("doc");
