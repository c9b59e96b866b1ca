// Starts `crosslane lsp` and connects the editor to it; everything else is the server's.

const { existsSync } = require("node:fs");
const { join } = require("node:path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

// The command of the settings, otherwise the server in the package, otherwise the one on the PATH.
function command(settings) {
    const { defaultValue } = settings.inspect("path");
    const chosen = settings.get("path");
    const bundled = join(__dirname, "server", process.platform === "win32" ? "crosslane.exe" : "crosslane");
    return chosen === defaultValue && existsSync(bundled) ? bundled : chosen;
}

function start() {
    const settings = vscode.workspace.getConfiguration("crosslane");
    const server = { command: command(settings), args: ["lsp"] };
    client = new LanguageClient("crosslane", "crosslane", server, {
        documentSelector: [{ language: "glsl" }, { language: "wgsl" }, { pattern: "**/crosslane.toml" }],
        initializationOptions: { profiles: settings.get("profiles"), formatters: settings.get("formatters") },
        synchronize: {
            configurationSection: "crosslane",
            fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{toml,glsl,h,inc}"),
        },
    });
    return client.start();
}

async function restart() {
    await client?.stop();
    await start();
}

exports.activate = async (context) => {
    context.subscriptions.push(
        vscode.commands.registerCommand("crosslane.restart", restart),
        vscode.workspace.onDidChangeConfiguration((change) => {
            if (change.affectsConfiguration("crosslane.path")) {
                restart();
            }
        }),
    );
    await start();
};

exports.deactivate = () => client?.stop();
