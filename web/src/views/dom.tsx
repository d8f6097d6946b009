// Small controls that several views share.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { integer, parseLength } from "../format/number.ts";

export function Segmented<T extends string>(props: {
  label: string;
  options: { value: T; text: string; disabled?: boolean; title?: string | undefined }[];
  value: T;
  onChange: (value: T) => void;
}) {
  return (
    <div class="segmented" role="group" aria-label={props.label}>
      {props.options.map(({ value, text, disabled, title }) => (
        <button
          key={value} type="button" aria-pressed={value === props.value} disabled={disabled} title={title}
          onClick={() => props.onChange(value)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

// A whole number: `32768`, `32k`, `1M`. Enter or leaving commits, Escape reverts, arrows double and
// halve; what is not a number is refused and said.
export function NumberField(props: {
  label: string;
  value: bigint;
  min: bigint;
  onChange: (value: bigint) => void;
  onRefused: (text: string) => void;
}) {
  const [draft, setDraft] = useState<string | null>(null);
  const shown = draft ?? integer(props.value);
  const commit = () => {
    if (draft === null) return;
    setDraft(null);
    const value = parseLength(draft);
    if (value === null) props.onRefused(`“${draft.slice(0, 40)}” is not a whole number; ${props.label} stays ${integer(props.value)}.`);
    else props.onChange(value < props.min ? props.min : value);
  };
  const step = (value: bigint) => {
    setDraft(null);
    props.onChange(value < props.min ? props.min : value);
  };
  return (
    <label class="field">
      <span>{props.label}</span>
      <input
        type="text" inputMode="numeric" autocomplete="off" spellcheck={false} value={shown}
        style={{ width: `${Math.max(6, shown.length + 3)}ch` }}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onBlur={commit}
        onFocus={(event) => event.currentTarget.select()}
        onKeyDown={(event) => {
          if (event.key === "Enter") commit();
          else if (event.key === "Escape") setDraft(null);
          else if (event.key === "ArrowUp") step(props.value * 2n || 1n);
          else if (event.key === "ArrowDown") step(props.value / 2n);
          else return;
          event.preventDefault();
        }}
      />
    </label>
  );
}

export function Select(props: {
  label: string;
  hideLabel?: boolean;
  value: string;
  options: { value: string; text: string; group?: string }[];
  onChange: (value: string) => void;
}) {
  const groups = new Map<string, { value: string; text: string }[]>();
  for (const option of props.options) {
    const group = groups.get(option.group ?? "") ?? [];
    groups.set(option.group ?? "", [...group, option]);
  }
  const render = (options: { value: string; text: string }[]) =>
    options.map(({ value, text }) => <option key={value} value={value} selected={value === props.value}>{text}</option>);
  return (
    <label class="field">
      <span class={props.hideLabel ? "unseen" : ""}>{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {[...groups].map(([name, options]) =>
          name === "" ? render(options) : <optgroup key={name} label={name}>{render(options)}</optgroup>)}
      </select>
    </label>
  );
}

// A dialog that holds the focus and gives it back.
export function Dialog(props: { title: string; onClose: () => void; class?: string; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement || before instanceof SVGElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element} class={`dialog ${props.class ?? ""}`} aria-label={props.title}
      onClose={props.onClose}
      onClick={(event) => {
        if (event.target === element.current) props.onClose();
      }}
    >
      <div class="dialog-body">
        <header>
          <h2>{props.title}</h2>
          <button type="button" class="quiet" onClick={props.onClose}>Esc</button>
        </header>
        {props.children}
      </div>
    </dialog>
  );
}

export function Bar(props: { share: number; tone: string; mark?: number | null }) {
  const width = `${Math.min(100, Math.max(props.share > 0 ? 0.6 : 0, props.share * 100))}%`;
  return (
    <span class="bar" aria-hidden="true">
      <span class={`bar-fill ${props.tone}`} style={{ width }} />
      {props.mark !== null && props.mark !== undefined && <span class="bar-mark" style={{ left: `${Math.min(100, props.mark * 100)}%` }} />}
    </span>
  );
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export function useResize(onResize: (width: number, height: number) => void) {
  const element = useRef<HTMLDivElement>(null);
  const callback = useRef(onResize);
  callback.current = onResize;
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) callback.current(entry.contentRect.width, entry.contentRect.height);
    });
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  return element;
}
