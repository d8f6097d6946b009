// Where a part stands under the device's roof: its intensity, and the rate the estimate reaches.
import { digits3, formatRate } from "../format/number.ts";
import type { Item } from "../document/types.ts";
import { peakOperations, type Device } from "../time/device.ts";
import type { Time } from "../time/estimate.ts";
import { nodeOf, type Session } from "./session.ts";

const WIDTH = 330;
const HEIGHT = 92;

export function Roofline({ session, item, time }: { session: Session; item: Item; time: Time }) {
  const { evaluation, device, document } = session;
  if (!device) return null;
  const read = (name: "flops") => Number(evaluation.metric(item, name).value ?? 0n);
  const traffic = (["weight_read_bytes", "kv_read_bytes", "kv_write_bytes", "activation_read_bytes", "activation_write_bytes"] as const)
    .reduce((sum, name) => sum + Number(evaluation.metric(item, name).value ?? 0n), 0);
  const flops = read("flops");
  if (flops === 0 || traffic === 0 || time.estimate === 0) return null;
  const dtype = item.kind === "node" ? nodeOf(document, item.id).computeDtype : mainDtype(session);
  return <Chart device={device} peak={peakOperations(device, dtype) ?? 1} intensity={flops / traffic} rate={flops / time.estimate} dtype={dtype} />;
}

function mainDtype({ document }: Session): string {
  return document.nodes.find((node) => node.computeDtype !== "" && node.metrics.flops?.formula !== null && !node.view)?.computeDtype ?? "bf16";
}

function Chart(props: { device: Device; peak: number; intensity: number; rate: number; dtype: string }) {
  const { device, peak, intensity, rate } = props;
  const bandwidth = device.bandwidth_bytes_per_second;
  const ridge = peak / bandwidth;
  const [low, high] = [Math.min(0.1, intensity / 2), Math.max(10_000, intensity * 2, ridge * 4)];
  const bottom = Math.min(rate / 3, low * bandwidth);
  const x = (value: number) => (Math.log(value / low) / Math.log(high / low)) * WIDTH;
  const y = (value: number) => HEIGHT - (Math.log(value / bottom) / Math.log((peak * 1.6) / bottom)) * HEIGHT;
  return (
    <figure class="roofline">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
        <polyline class="roof" points={`${x(low)},${y(low * bandwidth)} ${x(ridge)},${y(peak)} ${WIDTH},${y(peak)}`} />
        <line class="ridge" x1={x(ridge)} x2={x(ridge)} y1={y(peak)} y2={HEIGHT} />
        <line class="drop" x1={x(intensity)} x2={x(intensity)} y1={y(rate)} y2={y(Math.min(peak, intensity * bandwidth))} />
        <circle class="point" cx={x(intensity)} cy={y(Math.max(rate, bottom))} r={4} />
      </svg>
      <figcaption class="note">
        {digits3(intensity)} FLOPs/byte, ridge at {digits3(ridge)}; {formatRate(rate, "FLOP/s")} of {formatRate(peak, "FLOP/s")} dense {props.dtype}
      </figcaption>
    </figure>
  );
}
