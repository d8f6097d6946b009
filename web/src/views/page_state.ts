// The model page's state: which document, where in it, under which settings, and the URL that says so.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { levelOf } from "../document/level.ts";
import { above, entrance, nearestPlace, pathAt, resolvePath, type Place } from "../document/paths.ts";
import type { Document, Item, Mode } from "../document/types.ts";
import { siblingName, type Library } from "../load/library.ts";
import { Evaluation } from "../metrics/evaluation.ts";
import { bindingsOf, formatHash, otherSettings, parseHash, SELF, setVariable, type Settings } from "../settings/settings.ts";
import { integer } from "../format/number.ts";
import type { Device } from "../time/device.ts";
import { findDevice } from "../time/table.ts";
import { StepTime } from "../time/estimate.ts";
import { variableLabel } from "./header.tsx";
import { moduleOf, selectionKey, selectionName, type Actions, type Compared, type Overlay, type Session } from "./session.ts";

interface State {
  document: Document;
  place: Place;
  settings: Settings;
}

export interface Page {
  session: Session;
  overlay: Overlay;
  query: string; // that the find dialog begins with
  note: string | null;
  details: Item | null;
  missing: string | null; // a path that the document does not have
}

const OPEN_DELAY = 280; // a closed drawer would cover or move the box before a second click

function startAt(document: Document): State & { missing: string | null } {
  const { path, settings } = parseHash(location.hash);
  const place = path === "" ? { module: 0, instances: new Map() } : resolvePath(document, path);
  const { module, instances } = place ?? nearestPlace(document, path);
  return { document, settings, place: { module: entrance(document, module), instances }, missing: place ? null : path };
}

const hashOf = ({ document, place, settings }: State) =>
  formatHash(pathAt(document, place.module, place.instances), settings);

// A document at one setting, with times where a device is chosen.
function usePriced(document: Document, settings: Settings, device: Device | null) {
  const evaluation = useMemo(() => new Evaluation(document, bindingsOf(document, settings)), [document, settings.variables]);
  const time = useMemo(() => (device ? new StepTime(evaluation, device) : null), [evaluation, device]);
  const measure = useMemo(() => ({ evaluation, time, bar: settings.bar }), [evaluation, time, settings.bar]);
  return { evaluation, time, measure };
}

export function usePage(first: Document, library: Library, setDocument: (name: string, document: Document) => void, fileName: string): Page {
  const [state, setState] = useState(() => startAt(first));
  const [{ overlay, query }, setOverlay] = useState<{ overlay: Overlay; query: string }>({ overlay: null, query: "" });
  const [note, setNote] = useState<string | null>(null);
  const [drawerOpen, setDrawerOpen] = useState(state.settings.selected !== null);
  const [sibling, setSibling] = useState<{ name: string; document: Document | null } | null>(null);
  const [other, setOther] = useState<Document | null>(null);
  const timer = useRef(0);
  const { document, place, settings } = state;
  const level = levelOf(document, place.module);
  const device = findDevice(settings.device);
  const priced = usePriced(document, settings, device);
  const second = useMemo(() => otherSettings(settings), [settings.variables, settings.other, settings.device, settings.bar]);
  const againstItself = settings.compare === SELF;
  const pricedOther = usePriced(againstItself ? document : (other ?? document), second, findDevice(second.device));
  const compared: Compared | null = againstItself ? { document, name: settingsText(settings), ...pricedOther }
    : other ? { document: other, name: other.model.name, ...pricedOther } : null;
  const latest = useRef(state);
  latest.current = state;

  const commit = (next: State, history: "push" | "replace") => {
    latest.current = { ...next, missing: null };
    setState(latest.current);
    const address = location.pathname + location.search + hashOf(next);
    try {
      if (history === "push") window.history.pushState(null, "", address);
      else window.history.replaceState(null, "", address);
    } catch {
      location.hash = hashOf(next); // pages from disk may not rewrite their address
    }
  };
  const say = (text: string) => {
    setNote(text);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setNote(null), 6000);
  };

  useEffect(() => {
    const back = () => {
      const next = startAt(latest.current.document);
      if (hashOf(next) === hashOf(latest.current)) return;
      latest.current = next;
      setState(next);
    };
    window.addEventListener("popstate", back);
    window.addEventListener("hashchange", back);
    return () => {
      window.removeEventListener("popstate", back);
      window.removeEventListener("hashchange", back);
    };
  }, []);

  // The other mode's document is looked for in the background, so that its button can say if it is not there.
  const otherModeName: Mode = document.mode === "prefill" ? "decode" : "prefill";
  const siblingFile = siblingName(fileName, otherModeName);
  useEffect(() => {
    let gone = false;
    setSibling(null);
    if (siblingFile !== null) {
      library.open(siblingFile).then(
        (found) => !gone && setSibling({ name: siblingFile, document: found }),
        () => !gone && setSibling({ name: siblingFile, document: null }));
    } else setSibling({ name: "", document: null });
    return () => { gone = true; };
  }, [fileName]);

  useEffect(() => {
    let gone = false;
    if (settings.compare === null || settings.compare === SELF) setOther(null);
    else {
      library.open(settings.compare).then(
        (found) => !gone && setOther(found),
        () => !gone && say(`${settings.compare} could not be opened for comparison.`));
    }
    return () => { gone = true; };
  }, [settings.compare]);

  const moveTo = (next: Place, selectKey: string | null, history: "push" | "replace" = "push") => {
    const now = latest.current;
    const selected = selectKey === null ? null : selectionName(now.document, selectKey);
    if (selectKey === null) setDrawerOpen(false);
    const place = { ...next, module: entrance(now.document, next.module) };
    commit({ ...now, place, settings: { ...now.settings, selected } }, history);
  };
  const actions: Actions = {
    open(item) {
      if (item.kind === "module") moveTo({ ...latest.current.place, module: item.id }, null);
      else { actions.select(`n${item.id}`); setDrawerOpen(true); }
    },
    goTo(module, select = null) {
      moveTo({ ...latest.current.place, module }, select);
      if (select !== null) setDrawerOpen(true);
    },
    up() {
      const { document: from, place: now } = latest.current;
      const parent = above(from, now.module);
      if (parent === null) return;
      const left = moduleOf(from, parent).children.find((child) => isInside(from, now.module, child));
      moveTo({ ...now, module: parent }, left === undefined ? null : `m${left}`);
    },
    stepInstance(stage, instance) {
      const now = latest.current;
      const instances = new Map(now.place.instances).set(stage, instance);
      const inside = isInside(now.document, now.place.module, stage);
      commit({ ...now, place: { module: inside ? now.place.module : entrance(now.document, stage), instances },
        settings: { ...now.settings, of: "one", selected: null } }, inside ? "replace" : "push");
      setDrawerOpen(false);
    },
    select(key) {
      const now = latest.current;
      const selected = key === null ? null : selectionName(now.document, key);
      commit({ ...now, settings: { ...now.settings, selected } }, "replace");
      if (key === null) setDrawerOpen(false);
      else window.setTimeout(() => {
        if (latest.current.settings.selected === selected && latest.current.place.module === now.place.module) setDrawerOpen(true);
      }, OPEN_DELAY);
    },
    update(patch, history = "replace") {
      commit({ ...latest.current, settings: { ...latest.current.settings, ...patch } }, history);
    },
    setVariable(name, value) {
      const now = latest.current;
      const change = setVariable(now.document, now.settings, name, value);
      if (change.note) say(change.note);
      commit({ ...now, settings: { ...now.settings, variables: change.variables } }, "replace");
    },
    setMode(mode) {
      const now = latest.current;
      if (mode === now.document.mode || !sibling?.document) return;
      const path = pathAt(now.document, now.place.module, now.place.instances);
      const near = nearestPlace(sibling.document, path);
      const place = { ...near, module: entrance(sibling.document, near.module) };
      const next = { document: sibling.document, place, settings: { ...now.settings, selected: null } };
      setDocument(sibling.name, sibling.document);
      const query = new URLSearchParams(location.search);
      query.set("doc", sibling.name);
      try {
        window.history.replaceState(null, "", `${location.pathname}?${query}`);
      } catch {
        // from disk the address may stay as it is
      }
      commit(next, "replace");
      setDrawerOpen(false);
    },
    show: (next, text = "") => setOverlay({ overlay: next, query: text }),
    openText(name, text) {
      try {
        const opened = library.add(name, text);
        setDocument(name, opened);
        commit({ document: opened, place: { module: 0, instances: new Map() }, settings: { ...latest.current.settings, selected: null, variables: new Map() } }, "replace");
      } catch (error) {
        say(error instanceof Error ? `${name}: ${error.message}` : String(error));
      }
    },
    say,
  };

  const selected = selectionKey(level, document, settings.selected);
  const details: Item | null = !drawerOpen || selected === null ? null
    : { kind: selected.startsWith("m") ? "module" : "node", id: Number(selected.slice(1)) };
  const otherMode = {
    mode: otherModeName,
    available: (sibling?.document ?? null) !== null,
    sought: sibling !== null,
    reason: sibling === null ? "Looking for the other step's document." : `There is no ${otherModeName} document beside this one.`,
  };
  const session: Session = { document, settings, place, level, device, ...priced, selected, compared, otherMode, actions };
  return { session, overlay, query, note, details, missing: state.missing };
}

// `batch_size 16, max_length 8,192`: what the second of a comparison with itself has of its own.
function settingsText({ other }: Settings): string {
  const parts = [...other.variables].map(([name, value]) => `${variableLabel(name, "").toLowerCase()} ${integer(value)}`);
  if (other.device !== null) parts.push(findDevice(other.device)?.name ?? "no device");
  return parts.length === 0 ? "itself" : parts.join(", ");
}

function isInside(document: Document, module: number, ancestor: number): boolean {
  for (let at: number | null = module; at !== null; at = moduleOf(document, at).parent) if (at === ancestor) return true;
  return false;
}

