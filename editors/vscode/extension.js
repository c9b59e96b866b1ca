// Starts `crosslane lsp` and connects the editor to it; everything else is the server's.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function start() {
    const settings = vscode.workspace.getConfiguration("crosslane");
    const server = { command: settings.get("path"), args: ["lsp"] };
    client = new LanguageClient("crosslane", "crosslane", server, {
        documentSelector: [{ language: "glsl" }, { language: "wgsl" }, { pattern: "**/crosslane.toml" }],
        initializationOptions: { profiles: settings.get("profiles") },
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
