import { useEffect, useRef } from "preact/hooks";

// Opens a document from disk; it stays in this browser.
export function DropZone({ onOpen }: { onOpen: (name: string, text: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class="drop-zone">
      <p><strong>Drop a document here</strong></p>
      <p>
        or <button type="button" onClick={() => input.current?.click()}>choose a file</button>
        <input
          ref={input} type="file" accept=".json,application/json" hidden aria-label="Choose a document"
          onChange={(event) => { void openFirst(event.currentTarget.files, onOpen); }}
        />
      </p>
      <p class="light">It stays in this browser.</p>
    </div>
  );
}

async function openFirst(files: FileList | null, onOpen: (name: string, text: string) => void) {
  const file = files?.[0];
  if (file) onOpen(file.name, await file.text());
}

// The whole page takes a dropped file.
export function useDrop(onOpen: (name: string, text: string) => void) {
  const latest = useRef(onOpen);
  latest.current = onOpen;
  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      void openFirst(event.dataTransfer?.files ?? null, (name, text) => latest.current(name, text));
    };
    window.addEventListener("dragover", over);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", over);
      window.removeEventListener("drop", drop);
    };
  }, []);
}
