// The client of passline-lsp in VS Code.
"use strict";

const fs = require("fs");
const path = require("path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

/** The command of the server: that of the setting, of the folder's environment, or of the PATH. */
function serverCommand(settings) {
  const given = settings.get("command");
  if (given) return given;
  const names = [".venv/bin/passline-lsp", "venv/bin/passline-lsp"];
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    for (const name of names) {
      const file = path.join(folder.uri.fsPath, name);
      if (fs.existsSync(file)) return file;
    }
  }
  return "passline-lsp";
}

async function start() {
  const settings = vscode.workspace.getConfiguration("passline");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const server = {
    command: serverCommand(settings),
    args: settings.get("arguments"),
    options: { cwd: folder },
  };
  client = new LanguageClient("passline", "Passline", server, {
    documentSelector: [{ language: "mlir" }],
  });
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `passline-lsp does not start: ${error.message}. ` +
        "Install it by pip install 'passline[lsp]', or set passline.command."
    );
  }
}

/** Ask for a pipeline, and run a command of the server on the file with it. */
async function ask(command) {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !client) return;
  const pipeline = await vscode.window.showInputBox({
    prompt: "The passes to run",
    placeHolder: "canonicalize,cse",
  });
  if (!pipeline) return;
  const uri = client.code2ProtocolConverter.asUri(editor.document.uri);
  const line = editor.selection.active.line;
  await vscode.commands.executeCommand(command, { uri, pipeline, line, symbol: "" });
}

async function activate(context) {
  const commands = {
    "passline.runPipelineHere": () => ask("passline.runPipeline"),
    "passline.showResultHere": () => ask("passline.showResult"),
    "passline.showRemarksHere": () => ask("passline.showRemarks"),
    "passline.restart": async () => {
      await client?.dispose();
      await start();
    },
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  }
  await start();
}

async function deactivate() {
  await client?.stop();
}

module.exports = { activate, deactivate };
