// Tensors of a module that no operator of it reads: all there is where a checkpoint has no graph.
import { useRef } from "preact/hooks";
import { formatBytes, formatParameters } from "../format/number.ts";
import { useWindow } from "./window.ts";
import type { Session } from "./session.ts";

export function TensorTable({ session }: { session: Session }) {
  const { document, level } = session;
  const scroll = useRef<HTMLDivElement>(null);
  const shown = useWindow(scroll, level.unread.length);
  const tensors = level.unread.slice(shown.from, shown.to).map((id) => document.tensors[id]!);
  return (
    <div class="table-scroll tensors" ref={scroll} tabIndex={0} role="region" aria-label="Tensors of this module">
      <table>
        <thead>
          <tr>
            <th scope="col">Tensor{level.boxes.length === 0 ? ", no graph here" : " that no operator here reads"}</th>
            <th scope="col">Shape</th>
            <th scope="col" class="number">Bytes</th>
            <th scope="col" class="number">Params</th>
            <th scope="col">Role</th>
            <th scope="col">File</th>
          </tr>
        </thead>
        <tbody>
          {shown.before > 0 && <tr style={{ height: `${shown.before}px` }} />}
          {tensors.map((tensor) => (
            <tr key={tensor.id}>
              <th scope="row" class="mono">{tensor.name}{tensor.instances > 1 && <span class="times">{` × ${tensor.instances}`}</span>}</th>
              <td class="mono">[{tensor.shape.map(String).join(", ")}] {tensor.dtype}</td>
              <td class="number">{formatBytes(tensor.bytes * BigInt(tensor.instances))}</td>
              <td class="number">{formatParameters(tensor.parameters * BigInt(tensor.instances))}</td>
              <td>{tensor.role}{tensor.part === "plain" ? "" : `, ${tensor.part}`}</td>
              <td class="light">{tensor.file ?? "–"}</td>
            </tr>
          ))}
          {shown.after > 0 && <tr style={{ height: `${shown.after}px` }} />}
        </tbody>
      </table>
    </div>
  );
}
