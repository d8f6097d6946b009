// The boxes and pills of the graph, as SVG.
import { fitText, textWidth } from "../layout/text.ts";
import type { Placed } from "../layout/layout.ts";
import { formatBytes, formatParameters } from "../format/number.ts";
import type { BoxModel, PillModel } from "./graph_model.ts";
import { parametersOfItem, divisorOf, type Session } from "./session.ts";

export interface BoxNumbers {
  metric: string;
  share: string;
  fill: number; // of the bar, 0..1; NaN: unknown
  tone: string;
  hot: boolean;
  mark: number | null; // the compared document's share, on this one's scale
}

export interface BoxProps {
  session: Session;
  box: BoxModel;
  at: Placed;
  numbers: BoxNumbers;
  selected: boolean;
  focusable: boolean;
  far: boolean; // zoomed out: secondary text is left away
  onSelect: () => void;
  onOpen: () => void;
  onHover: (over: boolean) => void;
}

export function GraphBox(props: BoxProps) {
  const { box, at, numbers, selected } = props;
  const classes = ["box", box.shape, selected ? "selected" : "", box.dashed ? "dashed" : "", numbers.hot ? "hot" : ""];
  return (
    <g
      class={classes.filter(Boolean).join(" ")} transform={`translate(${at.x} ${at.y})`}
      data-box={box.key} data-name={box.title} role="button" tabIndex={props.focusable ? 0 : -1}
      aria-pressed={selected}
      onClick={props.onSelect} onDblClick={props.onOpen}
      onPointerEnter={() => props.onHover(true)} onPointerLeave={() => props.onHover(false)}
      onFocus={() => props.onHover(true)} onBlur={() => props.onHover(false)}
    >
      {box.repeat > 1 && [8, 4].map((offset) => (
        <rect key={offset} class="under" x={offset} y={offset} width={at.width} height={at.height} rx={3} />
      ))}
      <rect class="frame" width={at.width} height={at.height} rx={3} />
      {box.shape === "view" ? <ViewLines {...props} /> : <Lines {...props} />}
      {box.shape !== "view" && <MetricBar width={at.width} y={at.height - 8} numbers={numbers} />}
      {box.tags.length > 0 && <SideTag tags={box.tags} />}
    </g>
  );
}

function ViewLines({ box, at }: BoxProps) {
  const name = fitText(box.title, at.width - 100, 12, "mono");
  return (
    <>
      <text class="mono strong" x={10} y={18}>{name}</text>
      <text class="second" x={at.width - 10} y={18} text-anchor="end">view, 0 bytes</text>
    </>
  );
}

function Lines(props: BoxProps) {
  return props.box.shape === "module" ? <ModuleLines {...props} /> : <OperatorLines {...props} />;
}

function ModuleLines({ session, box, at, numbers }: BoxProps) {
  const right = at.width - 12;
  const badge = box.repeat > 1 ? `× ${box.repeat}` : "";
  const badgeWidth = badge === "" ? 0 : textWidth(badge, 13, "sans", 640) + 14;
  const parameters = parametersOfItem(session.document, box.item);
  const weights = session.evaluation.metric(box.item, "weight_bytes").value;
  const divisor = BigInt(divisorOf(session));
  const rangeWidth = textWidth(box.range, 12);
  return (
    <>
      <text class="title" x={12} y={20}>{fitText(box.title, at.width - 24 - badgeWidth, 14, "sans", 640)}</text>
      {badge !== "" && (
        <g class="badge" transform={`translate(${right - badgeWidth + 4} 6)`}>
          <rect width={badgeWidth} height={20} rx={3} />
          <text x={badgeWidth / 2} y={14} text-anchor="middle">{badge}</text>
        </g>
      )}
      <text class="second" x={12} y={37}>{fitText(box.kind, at.width - 32 - rangeWidth, 12)}</text>
      <text class="second" x={right} y={37} text-anchor="end">{box.range}</text>
      <text x={12} y={57}>{parameters > 0n ? `${formatParameters(parameters / divisor)} params` : "no weights"}</text>
      <text x={right} y={57} text-anchor="end">{weights === null ? "unknown" : weights > 0n ? formatBytes(weights / divisor) : ""}</text>
      <text class="metric" x={12} y={77}>{numbers.metric}</text>
      {box.unknownFlops && <UnknownFlops x={20 + textWidth(numbers.metric, 13)} y={65} />}
      <text class="share" x={right} y={77} text-anchor="end">{numbers.share}</text>
    </>
  );
}

function OperatorLines({ box, at, numbers }: BoxProps) {
  const right = at.width - 12;
  const metricWidth = textWidth(numbers.metric, 12);
  const shareWidth = textWidth(numbers.share, 13, "sans", 640);
  const labelRoom = at.width - 36 - metricWidth - (box.unknownFlops ? 62 : 0);
  const label = fitText(box.kind, labelRoom, 12);
  return (
    <>
      <text class="mono strong" x={12} y={20}>{fitText(box.title, at.width - 32 - shareWidth, 13, "mono", 560)}</text>
      <text class="share" x={right} y={20} text-anchor="end">{numbers.share}</text>
      <text class="second" x={12} y={38}>{label}</text>
      {box.unknownFlops && <UnknownFlops x={18 + textWidth(label, 12)} y={27} />}
      <text class="metric small" x={right} y={38} text-anchor="end">{numbers.metric}</text>
      {box.third && (
        <>
          <text class="mono second" x={12} y={56}>{fitText(box.third.left, at.width - 36 - textWidth(box.third.right, 12), 11, "mono")}</text>
          <text class="small" x={right} y={56} text-anchor="end">{box.third.right}</text>
        </>
      )}
    </>
  );
}

function UnknownFlops({ x, y }: { x: number; y: number }) {
  return (
    <g class="unknown-badge" transform={`translate(${x} ${y})`}>
      <rect width={54} height={15} rx={3} />
      <text x={27} y={11.5} text-anchor="middle">? FLOPs</text>
    </g>
  );
}

function MetricBar({ width, y, numbers }: { width: number; y: number; numbers: BoxNumbers }) {
  const room = width - 2;
  if (Number.isNaN(numbers.fill)) return null;
  const fill = numbers.fill === 0 ? 0 : Math.max(1.5, numbers.fill * room);
  return (
    <>
      <rect class="track" x={1} y={y + 1} width={room} height={6} />
      <rect class={`fill ${numbers.tone}`} x={1} y={y + 1} width={Math.min(room, fill)} height={6} />
      {numbers.mark !== null && <rect class="tick" x={1 + Math.min(1, numbers.mark) * (room - 2)} y={y - 2} width={2} height={10} />}
    </>
  );
}

function SideTag({ tags }: { tags: string[] }) {
  const text = fitText(`+ ${tags.join(", ")}`, 200, 11, "mono");
  const width = textWidth(text, 11, "mono") + 12;
  return (
    <g class="side" transform="translate(10 -11)">
      <title>{tags.join("\n")}</title>
      <rect width={width} height={17} rx={3} />
      <text class="mono" x={6} y={12}>{text}</text>
    </g>
  );
}

export function GraphPill({ pill, at }: { pill: PillModel; at: Placed }) {
  return (
    <g class={`pill ${pill.direction}`} transform={`translate(${at.x} ${at.y})`}>
      <title>{pill.title}</title>
      <rect width={at.width} height={at.height} rx={at.height / 2} />
      {pill.cache && <rect class={pill.cache === "state" ? "st" : "kv"} x={12} y={10} width={8} height={8} />}
      <text class="mono" x={pill.cache ? 27 : 13} y={18}>{pill.text}</text>
    </g>
  );
}
