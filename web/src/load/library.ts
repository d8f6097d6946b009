// Where documents come from: a static host (fetch), a folder opened from disk (script twins, since
// browsers refuse to fetch neighbours there), the page itself (embedded), or a file dropped on it.
import { DocumentError } from "../document/reader.ts";
import { readDocument } from "../document/read.ts";
import type { Document, Mode } from "../document/types.ts";

declare global {
  interface Window {
    kcharterDocument?: (name: string, text: string) => void;
  }
}

const BLOCKED_ADVICE =
  "Drop the document on this page, publish the folder with `kcharter publish`, or write one page that holds everything with `kcharter analyze … --html page.html`.";

// `?doc=` names a file below the page's own folder and nothing else: no scheme, host, climbing out,
// or escapes that could become one.
export function safeDocumentPath(text: string): string | null {
  if (text.length > 400 || !/\.json$/.test(text)) return null;
  if (/[\\:?#%\u0000-\u001f]/.test(text) || text.startsWith("/")) return null;
  return text.split("/").every((part) => part !== "" && part !== "." && part !== "..") ? text : null;
}

const baseName = (path: string) => path.slice(path.lastIndexOf("/") + 1);

export class Library {
  private readonly texts = new Map<string, string>(); // by file name, without folder
  private readonly documents = new Map<string, Document>();
  private readonly waiting = new Map<string, (text: string) => void>();

  constructor() {
    window.kcharterDocument = (name, text) => {
      const base = baseName(name);
      this.texts.set(base, text);
      this.waiting.get(base)?.(text);
      this.waiting.delete(base);
    };
    for (const element of document.querySelectorAll("script[data-kcharter-document]")) {
      this.texts.set(baseName(element.getAttribute("data-kcharter-document") ?? ""), element.textContent ?? "");
    }
  }

  embedded(): string[] {
    return [...this.texts.keys()].filter((name) => name !== "catalog.json");
  }

  holds(name: string): boolean {
    return this.texts.has(baseName(name));
  }

  // Text whose document is read when it is opened.
  hold(name: string, text: string) {
    this.texts.set(baseName(name), text);
  }

  add(name: string, text: string): Document {
    const document = readDocument(text, baseName(name));
    this.texts.set(baseName(name), text);
    this.documents.set(baseName(name), document);
    return document;
  }

  opened(name: string): Document | undefined {
    return this.documents.get(baseName(name));
  }

  async open(path: string): Promise<Document> {
    const known = this.documents.get(baseName(path));
    return known ?? this.add(path, await this.text(path));
  }

  async text(path: string): Promise<string> {
    const held = this.texts.get(baseName(path));
    if (held !== undefined) return held;
    if (document.documentElement.dataset.page === "single") {
      throw new DocumentError("This page does not hold that document", "It was not written into this file.",
        [["document", path]], "Open one of the documents that this page lists.");
    }
    return location.protocol === "file:" ? this.fromTwin(path) : fetchText(path);
  }

  private fromTwin(path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${path.split("/").map(encodeURIComponent).join("/")}.js`;
      this.waiting.set(baseName(path), resolve);
      const failed = () => {
        if (!this.waiting.delete(baseName(path))) return;
        reject(new DocumentError("The document could not be loaded",
          "A page opened from disk may load neighbouring scripts only, and this document's twin was not there or handed over something else.",
          [["looked for", `${path}.js`]], BLOCKED_ADVICE));
      };
      script.onerror = failed;
      script.onload = failed; // it called kcharterDocument before, or never will
      document.head.append(script);
    });
  }
}

async function fetchText(path: string): Promise<string> {
  let response: Response;
  try {
    response = await fetch(path.split("/").map(encodeURIComponent).join("/"));
  } catch (error) {
    throw new DocumentError("The document could not be loaded", "The browser got no answer.",
      [["address", path], ["reason", String(error)]], BLOCKED_ADVICE);
  }
  if (!response.ok) {
    throw new DocumentError("There is no such document here", "The address in `?doc=` leads to nothing.",
      [["address", path], ["answer", `${response.status} ${response.statusText}`]],
      "Go back to the list of models, or publish the model to this site.");
  }
  return response.text();
}

// The file of the same model in the other mode.
export function siblingName(path: string, mode: Mode): string | null {
  const sibling = path.replace(/\.(prefill|decode)\.json$/, `.${mode}.json`);
  return /\.(prefill|decode)\.json$/.test(path) ? sibling : null;
}
