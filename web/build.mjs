// Bundles the page into web/dist: one classic script, one style sheet, two pages, and single.html,
// the template of a self-contained page (README.md says how the program fills it).
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import esbuild from "esbuild";

const web = path.dirname(fileURLToPath(import.meta.url));
const dist = path.join(web, "dist");
const devicesFolder = path.join(web, "../models/devices");

// What the page needs of models/devices/*.json: no sources, no prose.
const DEVICE_MEMBERS = [
  "id", "name", "vendor", "class", "grade", "memory", "bandwidth_bytes_per_second",
  "dense_operations_per_second", "accumulate", "efficiency", "link",
];
async function deviceTable() {
  const files = await readdir(devicesFolder).catch(() => []);
  const devices = [];
  for (const file of files.filter((name) => name.endsWith(".json")).sort()) {
    const device = JSON.parse(await readFile(path.join(devicesFolder, file), "utf8"));
    devices.push(Object.fromEntries(DEVICE_MEMBERS.map((name) => [name, device[name]])));
  }
  return devices;
}

const devicePlugin = {
  name: "devices",
  setup(build) {
    build.onResolve({ filter: /^kcharter:devices$/ }, () => ({ path: "devices", namespace: "devices" }));
    build.onLoad({ filter: /.*/, namespace: "devices" }, async () => ({
      contents: JSON.stringify(await deviceTable()),
      loader: "json",
    }));
  },
};

const common = { bundle: true, minify: true, charset: "utf8", legalComments: "none", write: false };

async function bundle(options) {
  const result = await esbuild.build({ ...common, ...options });
  return result.outputFiles[0].text;
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

function policy(script, style, connect) {
  return [
    "default-src 'none'", `script-src ${script}`, `style-src ${style}`, "img-src data: blob:",
    `connect-src ${connect}`, "base-uri 'none'", "form-action 'none'",
  ].join("; ");
}

function page({ title, kind, csp, head, tail }) {
  return `<!doctype html>
<html lang="en" data-page="${kind}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${csp}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" href="data:,">
${head}
</head>
<body>
<div id="app"></div>
<noscript>This page computes its numbers in the browser and needs JavaScript.</noscript>
${tail}
</body>
</html>
`;
}

const script = await bundle({
  entryPoints: [path.join(web, "src/main.tsx")],
  format: "iife",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  plugins: [devicePlugin],
});
const style = await bundle({ entryPoints: [path.join(web, "src/style/main.css")] });
if (script.includes("</script") || style.includes("</style")) {
  throw new Error("a closing tag in the bundle would end it early when inlined");
}

await rm(dist, { recursive: true, force: true });
await mkdir(dist);
const linked = {
  csp: policy("'self' file:", "'self' file:", "'self'"),
  head: '<link rel="stylesheet" href="kcharter.css">',
  tail: '<script src="kcharter.js"></script>',
};
const files = {
  "kcharter.js": script,
  "kcharter.css": style,
  "index.html": page({ title: "kcharter", kind: "landing", ...linked }),
  "kcharter.html": page({ title: "kcharter", kind: "model", ...linked }),
  "single.html": page({
    title: "kcharter",
    kind: "single",
    csp: policy(hash(script), hash(style), "'none'"),
    head: `<style>${style}</style>`,
    tail: `<!--kcharter:documents-->\n<script>${script}</script>`,
  }),
};
for (const [name, text] of Object.entries(files)) await writeFile(path.join(dist, name), text);
const kib = (text) => (Buffer.byteLength(text) / 1024).toFixed(1);
console.log(`dist: kcharter.js ${kib(script)} KiB, kcharter.css ${kib(style)} KiB`);
if (Buffer.byteLength(script) > 350_000) throw new Error("the bundle is over its budget of 350 KB");
