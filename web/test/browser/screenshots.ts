// Pictures of the page's views: npx tsx test/browser/screenshots.ts SITE FOLDER [MODEL]
import { mkdirSync } from "node:fs";
import path from "node:path";
import { launch, open, serve } from "./browser.ts";

const [site = "site", folder = "test-results/screenshots", model = "Wren-8B", drill = "#model.layers.0"] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const server = await serve(path.resolve(site));
const browser = await launch();
const document = `${server.url}/kcharter.html?doc=generated/${model}`;
const load = "&batch=8&seq=32768&max_seq=65536";
const views: [name: string, url: string, width: number, height: number, dark?: boolean, act?: string][] = [
  ["01-landing", `${server.url}/index.html#${load}`, 1440, 900],
  ["02-root", `${document}.decode.json#${load}`, 1440, 900],
  ["03-drill", `${document}.decode.json${drill}${load}`, 1440, 900, false, "click"],
  ["04-leaf", `${document}.decode.json${drill}.self_attn${load}`, 1440, 900, false, "click"],
  ["05-table", `${document}.decode.json${drill}.self_attn${load}&view=table`, 1440, 900],
  ["06-peak", `${document}.prefill.json#&seq=32768&max_seq=65536&view=peak`, 1440, 900],
  ["07-dark-over", `${document}.decode.json${drill}&batch=64&seq=32768&max_seq=131072`, 1440, 900, true],
  ["10-by-operator", `${document}.decode.json#${load}&view=table&group=operator`, 1024, 700],
  ["12-narrow", `${document}.decode.json${drill}${load}`, 390, 800],
  ["15-find", `${document}.decode.json#${load}`, 1440, 900, false, "find"],
  ["19-landing-narrow", `${server.url}/index.html`, 390, 800],
];
const only = process.env.ONLY?.split(",");
for (const [name, url, width, height, dark, act] of views) {
  if (only && !only.some((part) => name.includes(part))) continue;
  const { page, problems } = await open(browser, url, { width, height, dark: dark ?? false });
  await page.waitForTimeout(400);
  if (act === "click") await page.locator("[data-box]").nth(1).click({ force: true });
  if (act === "find") {
    await page.keyboard.press("/");
    await page.keyboard.type("op:matmul attn");
  }
  await page.waitForTimeout(500);
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
  if (problems.length > 0) console.log(name, problems);
  await page.context().close();
}
await browser.close();
server.close();
