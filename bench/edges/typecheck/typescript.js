// Writes what TypeScript's checker knows of a folder: each use of a name with its definitions, one a line, as
// "path:line", name, path, line, separated by tabs. `npm install typescript@5.6.3` beside it, then
// `node typescript.js FOLDER`.
const fs = require("fs");
const path = require("path");
const ts = require("typescript");

const folder = path.resolve(process.argv[2]);
const files = [];

function addFiles(directory) {
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    const full = path.join(directory, entry.name);
    if (entry.isDirectory() && ![".git", "dist", "node_modules"].includes(entry.name)) addFiles(full);
    else if (entry.isFile() && entry.name.endsWith(".ts")) files.push(full);
  }
}

addFiles(folder);
const program = ts.createProgram(files, {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.CommonJS,
  moduleResolution: ts.ModuleResolutionKind.Node10,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts"],
  strict: true,
  noEmit: true,
});
const checker = program.getTypeChecker();

function place(node) {
  const file = node.getSourceFile();
  return [path.relative(folder, file.fileName), file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1];
}

function write(use, symbol, seen = new Set()) {
  if (!symbol || seen.has(symbol)) return;
  seen.add(symbol);
  if (symbol.flags & ts.SymbolFlags.Alias) write(use, checker.getAliasedSymbol(symbol), seen);
  for (const declaration of symbol.declarations ?? []) {
    if (!declaration.getSourceFile().fileName.startsWith(folder)) continue;
    const [site, siteLine] = place(use);
    const [target, targetLine] = place(declaration.name ?? declaration);
    console.log(`${site}:${siteLine}\t${use.text}\t${target}\t${targetLine}`);
  }
}

function visit(node) {
  if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
    write(node, checker.getSymbolAtLocation(node));
    if (ts.isShorthandPropertyAssignment(node.parent)) write(node, checker.getShorthandAssignmentValueSymbol(node.parent));
  }
  ts.forEachChild(node, visit);
}

for (const file of program.getSourceFiles()) {
  if (file.fileName.startsWith(folder) && !file.fileName.includes("node_modules")) visit(file);
}
