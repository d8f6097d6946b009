// Debian's Chromium, and a static server of a folder, for tests and screenshots.
import { createServer, type Server } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.KCHARTER_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb"],
  });
}

const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };

export async function serve(folder: string): Promise<{ url: string; close: () => void }> {
  const server: Server = createServer((request, response) => {
    const file = path.join(folder, path.normalize(decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname)));
    if (!file.startsWith(folder) || !existsSync(file) || file.endsWith("/")) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": TYPES[path.extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { url: `http://127.0.0.1:${address.port}`, close: () => server.close() };
}

export interface Opened {
  page: Page;
  problems: string[]; // console errors, page errors, failed requests
}

export async function open(browser: Browser, url: string, options: { width: number; height: number; dark?: boolean }): Promise<Opened> {
  const context = await browser.newContext({
    viewport: { width: options.width, height: options.height }, colorScheme: options.dark ? "dark" : "light", acceptDownloads: true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000); // for machines that do other things as well
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.goto(url);
  return { page, problems };
}
