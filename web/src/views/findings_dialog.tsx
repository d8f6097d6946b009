// What in the graph wastes time or memory, most saved time first; "show" goes to where it is.
import { formatBytes, formatPercent, formatTime, integer, THIN } from "../format/number.ts";
import { dtypeOf, rankedFindings, savedSeconds } from "../metrics/savings.ts";
import type { Finding } from "../document/sections.ts";
import { Dialog } from "./dom.tsx";
import { moduleOf, nodeOf, type Session } from "./session.ts";

const MOST = 200;

export function FindingsDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const { evaluation, device } = session;
  const ranked = rankedFindings(evaluation, device);
  return (
    <Dialog title="What could be faster or smaller" onClose={onClose} class="wide">
      <Total session={session} />
      {ranked.slice(0, MOST).map(({ finding, seconds }, index) => (
        <FindingRow key={index} session={session} finding={finding} seconds={seconds} onClose={onClose} />
      ))}
      {ranked.length > MOST && <p class="light">{integer(ranked.length - MOST)} smaller ones more</p>}
    </Dialog>
  );
}

function Total({ session }: { session: Session }) {
  const { document, evaluation, device, time } = session;
  const total = document.findings?.total;
  if (!total) return null;
  const step = time?.of({ kind: "module", id: 0 }).estimate ?? 0;
  const seconds = device ? savedSeconds(evaluation, total, dtypeOf(document, { nodes: [] }), device) : 0;
  return (
    <p class="light">
      {seconds > 0 && <>All of them together: about <strong>{formatTime(seconds)}</strong>{step > 0 && ` of ${formatTime(step)} (${formatPercent(seconds / step)})`} in a step. </>}
      Savings of different findings do not add up.
    </p>
  );
}

const SURE: Record<string, string> = { certain: "certain", likely: "likely", possible: "possible" };

function FindingRow(props: { session: Session; finding: Finding; seconds: number | null; onClose: () => void }) {
  const { session, finding, seconds, onClose } = props;
  const { document, evaluation, actions } = session;
  const { pattern } = finding;
  const bound = pattern.promise === "at_most" ? "≤" : "≥";
  const resident = evaluation.amount(finding.quantities.weight_bytes).value ?? 0n;
  const show = () => {
    onClose();
    const node = finding.nodes[0];
    if (node === undefined) actions.goTo(moduleOf(document, finding.module).parent ?? 0, `m${finding.module}`);
    else actions.goTo(nodeOf(document, node).module, `n${node}`);
  };
  return (
    <div class="reservation finding">
      <span class={pattern.sure === "certain" ? "tag" : "tag assumed"}>{SURE[pattern.sure] ?? pattern.sure}</span>
      <div>
        <p class="row">
          <strong>{pattern.what}{finding.sites > 1 && <span class="times">{` × ${integer(finding.sites)}`}</span>}</strong>
          <span>{seconds ? <strong class="hot-text">{`${bound}${THIN}${formatTime(seconds)}`}</strong> : seconds === null ? "" : "no time"}</span>
        </p>
        <p class="mono path">{moduleOf(document, finding.module).path || "the model"}</p>
        <p class="light">
          {[finding.detail, pattern.why, pattern.remedy].filter((text) => text !== "").map(sentence).join(" ")}
          {pattern.mendedBy && ` ${sentence(`Mended by ${pattern.mendedBy}`)}`}
          {finding.peak !== null && finding.peak > 0n && ` The activation peak falls by ${formatBytes(finding.peak)}.`}
          {resident > 0n && ` Weights shrink by ${formatBytes(resident)}.`}
          {!finding.counted && " The estimate does not count it: a runtime that computes constants at load does not pay it."}
          {" "}<button type="button" class="small" onClick={show}>show</button>
        </p>
      </div>
    </div>
  );
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
