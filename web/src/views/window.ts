// Which rows of a long table are drawn: those on screen and some around, the rest is empty space.
import { useEffect, useState } from "preact/hooks";
import type { RefObject } from "preact";

export const ROW_HEIGHT = 28;
const THRESHOLD = 300;
const AROUND = 30;

export interface Shown {
  from: number;
  to: number;
  before: number; // px
  after: number;
}

export function useWindow(scroll: RefObject<HTMLDivElement | null>, count: number): Shown {
  const [top, setTop] = useState(0);
  const [room, setRoom] = useState(900);
  const windowed = count > THRESHOLD;
  useEffect(() => {
    const element = scroll.current;
    if (!element || !windowed) return;
    const update = () => {
      setTop(element.scrollTop);
      setRoom(element.clientHeight);
    };
    update();
    element.addEventListener("scroll", update, { passive: true });
    return () => element.removeEventListener("scroll", update);
  }, [windowed]);
  if (!windowed) return { from: 0, to: count, before: 0, after: 0 };
  const from = Math.max(0, Math.floor(top / ROW_HEIGHT) - AROUND);
  const to = Math.min(count, Math.ceil((top + room) / ROW_HEIGHT) + AROUND);
  return { from, to, before: from * ROW_HEIGHT, after: (count - to) * ROW_HEIGHT };
}
