// Medians of what a person waits for, in Chromium: npx tsx test/browser/speed.ts SITE DOCUMENT…
import path from "node:path";
import { launch, open, serve } from "./browser.ts";

const [site = "site", ...documents] = process.argv.slice(2);
const server = await serve(path.resolve(site));
const browser = await launch();
const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;

for (const name of documents) {
  const loads: number[] = [];
  for (let i = 0; i < 5; ++i) {
    const { page } = await open(browser, `${server.url}/kcharter.html?doc=generated/${name}`, { width: 1440, height: 900 });
    await page.locator("[data-box], table").first().waitFor();
    loads.push(await page.evaluate(() => {
      const marks = performance.getEntriesByName("kcharter-ready");
      return marks[0]?.startTime ?? performance.now();
    }));
    if (i === 4) {
      const timed = (act: string) => page.evaluate(async (code) => {
        const times: number[] = [];
        for (let round = 0; round < 9; ++round) {
          const begin = performance.now();
          if (code === "turn") window.dispatchEvent(new KeyboardEvent("keydown", { key: round % 2 === 0 ? "]" : "[", bubbles: true }));
          else if (round % 2 === 0) document.querySelectorAll("[data-box]").forEach((box, index, all) => { if (index === all.length - 1) box.dispatchEvent(new MouseEvent("dblclick", { bubbles: true })); });
          else window.dispatchEvent(new KeyboardEvent("keydown", { key: "Backspace", bubbles: true }));
          await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
          times.push(performance.now() - begin);
        }
        return times;
      }, act);
      console.log(name, "turn", median(await timed("turn")).toFixed(1), "ms; drill", median(await timed("drill")).toFixed(1), "ms");
    }
    await page.context().close();
  }
  console.log(name, "interactive", median(loads).toFixed(0), "ms");
}
await browser.close();
server.close();
