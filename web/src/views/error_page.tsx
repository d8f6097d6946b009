import { DocumentError } from "../document/reader.ts";
import { DropZone } from "./drop_zone.tsx";

// Where no document can be shown: what happened, the facts, what to do.
export function ErrorPage({ error, onOpen }: { error: unknown; onOpen: (name: string, text: string) => void }) {
  const known = error instanceof DocumentError ? error
    : new DocumentError("Something went wrong in this page", error instanceof Error ? error.message : String(error), [],
      "Reload the page; if it happens again, the document shows a fault of the viewer.");
  return (
    <div class="error-page" role="alert">
      <h2>{known.title}</h2>
      <p>{known.message}</p>
      {known.facts.length > 0 && (
        <dl>{known.facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
      )}
      <p class="light">{known.advice}</p>
      <DropZone onOpen={onOpen} />
      <p><a href="index.html">All models</a></p>
    </div>
  );
}
