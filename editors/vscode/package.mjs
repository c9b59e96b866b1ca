// Packs the extension. With a server, the package is of one platform and needs no other installation:
//
//     npm run package                                               writes crosslane.vsix, without a server
//     npm run package -- --target linux-x64 --server PATH           writes crosslane-linux-x64.vsix

import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const TARGETS = ["win32-x64", "win32-arm64", "linux-x64", "linux-arm64", "alpine-x64", "alpine-arm64", "darwin-x64", "darwin-arm64"];

const folder = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({ options: { target: { type: "string" }, server: { type: "string" } } });

function fail(why) {
    console.error(`package: ${why}`);
    process.exit(2);
}

if (Boolean(values.target) !== Boolean(values.server)) {
    fail("--target and --server go together");
}
if (values.target && !TARGETS.includes(values.target)) {
    fail(`unknown target ${values.target}; the targets are ${TARGETS.join(", ")}`);
}
if (values.server && !statSync(values.server, { throwIfNoEntry: false })?.isFile()) {
    fail(`${values.server} is not a file`);
}

const bundled = join(folder, "server");
rmSync(bundled, { recursive: true, force: true });
const options = ["package", "--allow-missing-repository", "--skip-license"];
if (values.target) {
    const server = join(bundled, values.target.startsWith("win32") ? "crosslane.exe" : "crosslane");
    mkdirSync(bundled);
    copyFileSync(values.server, server);
    chmodSync(server, 0o755);
    options.push("--target", values.target);
}
options.push("--out", values.target ? `crosslane-${values.target}.vsix` : "crosslane.vsix");
const vsce = join(folder, "node_modules", "@vscode", "vsce", "vsce");
const { status } = spawnSync(process.execPath, [vsce, ...options], { cwd: folder, stdio: "inherit" });
rmSync(bundled, { recursive: true, force: true });
process.exit(status ?? 1);
