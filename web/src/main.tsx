// One script for all pages; <html data-page> says which this is: landing, model, or single (one file
// that holds everything).
import { render } from "preact";
import { useState } from "preact/hooks";
import { Library } from "./load/library.ts";
import { Landing } from "./views/landing.tsx";
import { documentInAddress, ModelPage } from "./views/model_page.tsx";
import { applyTheme } from "./views/theme.ts";

// What the address names, or what was dropped.
function App({ library, start }: { library: Library; start: string | null }) {
  const [name, setName] = useState(start);
  if (document.documentElement.dataset.page === "model" || name !== null) return <ModelPage library={library} name={name} />;
  return <Landing library={library} onOpen={(file, text) => { library.hold(file, text); setName(file); }} />;
}

applyTheme();
const library = new Library();
const page = document.documentElement.dataset.page;
const embedded = library.embedded();
// A file that holds one model (in one mode or both) and no catalogue opens it at once.
const models = new Set(embedded.map((name) => name.replace(/\.(prefill|decode)\.json$/, "")));
const only = page === "single" && !library.holds("catalog.json") && models.size === 1 ? (embedded.find((name) => name.endsWith(".decode.json")) ?? embedded[0] ?? null) : null;
const root = document.getElementById("app");
if (root) render(<App library={library} start={documentInAddress() ?? only} />, root);
