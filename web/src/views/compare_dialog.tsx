import { useEffect, useState } from "preact/hooks";
import { readCatalog, type CatalogModel } from "../document/catalog.ts";
import type { Library } from "../load/library.ts";
import { DEFAULTS, SELF, type OtherSettings } from "../settings/settings.ts";
import { Dialog } from "./dom.tsx";
import { OtherSettingsForm } from "./other_settings.tsx";
import { DropZone } from "./drop_zone.tsx";
import type { Session } from "./session.ts";

// Chooses the second document: this one at other settings, another of the site, or a file.
export function CompareDialog({ session, library, onClose }: { session: Session; library: Library; onClose: () => void }) {
  const [models, setModels] = useState<CatalogModel[] | null>(null);
  const [text, setText] = useState("");
  const { actions, compared, document } = session;
  useEffect(() => {
    library.text("generated/catalog.json").then((json) => setModels(readCatalog(json)), () => setModels([]));
  }, []);
  const choose = (name: string) => {
    actions.update({ compare: name, other: DEFAULTS.other }, "push");
    onClose();
  };
  const again = (other: OtherSettings) => {
    actions.update({ compare: SELF, other }, "push");
    onClose();
  };
  const choices = [
    ...(models ?? []).flatMap((model) => {
      const mode = model.modes[document.mode];
      return mode ? [{ path: `generated/${mode.document}`, name: model.name }] : [];
    }),
    ...library.embedded().filter((name) => name.endsWith(`.${document.mode}.json`)).map((name) => ({ path: name, name })),
  ].filter(({ name, path }, index, all) => path !== document.fileName && name.toLowerCase().includes(text.toLowerCase())
    && all.findIndex((other) => other.path.endsWith(path.slice(path.lastIndexOf("/") + 1))) === index);
  return (
    <Dialog title="Compare with" onClose={onClose}>
      {compared && (
        <p><button type="button" onClick={() => { actions.update({ compare: null, other: DEFAULTS.other }, "push"); onClose(); }}>End the comparison with {compared.name}</button></p>
      )}
      <OtherSettingsForm session={session} onChoose={again} />
      <h3>Another model</h3>
      <input type="text" class="find-field" placeholder="Find a model" aria-label="Find a model" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <ul class="choices">
        {choices.slice(0, 60).map(({ path, name }) => (
          <li key={path}><button type="button" onClick={() => choose(path)}>{name}</button></li>
        ))}
      </ul>
      {models !== null && choices.length === 0 && <p class="light">No other {document.mode} document is known here.</p>}
      <DropZone onOpen={(name, json) => {
        try {
          library.add(name, json);
          choose(name);
        } catch (error) {
          actions.say(error instanceof Error ? error.message : String(error));
        }
      }} />
    </Dialog>
  );
}
