// No accessibility violation in any view, at three widths, light and dark.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import type { Browser, Page } from "playwright-core";
import { writeSite } from "../fixtures/site.ts";
import { launch, open, serve } from "./browser.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser: Browser;
let server: Awaited<ReturnType<typeof serve>>;

before(async () => {
  const site = mkdtempSync(path.join(tmpdir(), "kcharter-site-"));
  writeSite(site);
  server = await serve(site);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.close();
});

interface Violation {
  id: string;
  help: string;
  nodes: { html: string; failureSummary?: string }[];
}

async function violations(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setBypassCSP", { enabled: true });
  await page.evaluate(axe);
  const found = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations)")) as Violation[];
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary ?? ""}`).join(" | ")}`);
}

const VIEWS: [string, string, string][] = [
  ["landing", "/index.html", ".card"],
  ["graph", "/kcharter.html?doc=generated/Kestrel-27B.decode.json#model.layers.3.self_attn&batch=8&seq=32768", "[data-box]"],
  ["table", "/kcharter.html?doc=generated/Wren-8B.decode.json#model.layers.3&view=table", "table"],
  ["peak", "/kcharter.html?doc=generated/Wren-8B.prefill.json#&view=peak&seq=4096", ".peak-row"],
];

for (const width of [1440, 1024, 390]) {
  for (const dark of [false, true]) {
    test(`no violation at ${width} px, ${dark ? "dark" : "light"}`, async () => {
      for (const [name, url, ready] of VIEWS) {
        const { page, problems } = await open(browser, server.url + url, { width, height: 900, dark });
        await page.locator(ready).first().waitFor();
        if (name === "graph") {
          await page.locator("[data-box]").first().dispatchEvent("click");
          await page.locator(".drawer").waitFor();
        }
        assert.deepEqual(await violations(page), [], name);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(overflow <= 0, `${name} is ${overflow} px wider than the screen`);
        assert.deepEqual(problems, [], name);
        await page.context().close();
      }
    });
  }
}

for (const [key, title] of [["/", "Find"], ["?", "Keys"], ["i", "What this document does not know"], ["e", "Export"], ["c", "Compare with"]] as const) {
  test(`the ${title} dialog takes the focus and gives it back`, async () => {
    const { page } = await open(browser, `${server.url}/kcharter.html?doc=generated/Wren-8B.decode.json`, { width: 1440, height: 900 });
    await page.locator("[data-box]").first().waitFor();
    await page.keyboard.press("ArrowDown");
    const focused = () => page.evaluate(() => document.activeElement?.closest("dialog") !== null);
    await page.keyboard.press(key);
    await page.getByRole("dialog").waitFor();
    assert.equal(await focused(), true);
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.equal(await page.evaluate(() => document.activeElement?.hasAttribute("data-box")), true);
  });
}
