use cairn_domain::EdgeKind::{Imports, References};

use crate::support::{check, check_kinds};

#[test]
fn relative_paths_index_files_and_extensions() {
    check(
        &[
            (
                "src/app.ts",
                "import run, { helper as h } from './util';\nimport * as deep from './deep';\nimport { gone } from './missing';\nexport function main() {\n  run();\n  h();\n  deep.dive();\n  gone();\n}\n",
            ),
            ("src/util.ts", "export default function run() {}\nexport const helper = () => 1;\n"),
            ("src/deep/index.js", "export { dive } from './inner.js';\n"),
            ("src/deep/inner.ts", "export function dive() {}\n"),
        ],
        &[
            "src/app.ts:5 main CALLS src/util.ts:run import",
            "src/app.ts:6 main CALLS src/util.ts:helper import",
            "src/app.ts:7 main CALLS src/deep/inner.ts:dive import",
        ],
    );
}

#[test]
fn packages_of_the_workspace_and_aliases() {
    check_kinds(
        &[
            ("package.json", r#"{"name": "root", "dependencies": {"react": "18"}}"#),
            ("packages/util/package.json", r#"{"name": "@acme/util", "main": "./dist/index.js"}"#),
            ("packages/util/src/index.ts", "export * from './text';\n"),
            ("packages/util/src/text.ts", "export function fold() {}\n"),
            (
                "packages/web/src/page.ts",
                "import { fold } from '@acme/util';\nimport React from 'react';\nimport fs from 'node:fs';\nimport { a } from '@/lib/a';\n",
            ),
            ("packages/web/src/lib/a.ts", "export const a = 1;\n"),
        ],
        &[Imports],
        &[
            "packages/util/src/index.ts:1 - IMPORTS packages/util/src/text.ts import",
            "packages/web/src/page.ts:1 - IMPORTS packages/util/src/index.ts import",
            "packages/web/src/page.ts:1 - IMPORTS packages/util/src/text.ts import",
            "packages/web/src/page.ts:1 - IMPORTS packages/util/src/text.ts:fold import",
            "packages/web/src/page.ts:2 - IMPORTS npm:react import",
            "packages/web/src/page.ts:4 - IMPORTS packages/web/src/lib/a.ts import",
            "packages/web/src/page.ts:4 - IMPORTS packages/web/src/lib/a.ts:a import",
        ],
    );
}

#[test]
fn classes_fields_and_this() {
    let text = "\
import { Base } from './base';

interface Store { load(): void }

export class Service extends Base implements Store {
  private client = new Client();
  constructor(private cache: Client) { super(); }
  load() {
    this.start();
    this.inherited();
    this.client.send();
    this.cache.send();
    this.nowhere();
  }
  start() {}
}

class Client { send() {} }
";
    check(
        &[("base.ts", "export class Base {\n  inherited() {}\n}\n"), ("service.ts", text)],
        &[
            "service.ts:5 Service EXTENDS base.ts:Base import",
            "service.ts:5 Service IMPLEMENTS service.ts:Store exact",
            "service.ts:6 Service.client CALLS service.ts:Client exact",
            "service.ts:7 Service.constructor CALLS base.ts:Base import",
            "service.ts:9 Service.load CALLS service.ts:Service.start exact",
            "service.ts:10 Service.load CALLS base.ts:Base.inherited import",
            "service.ts:11 Service.load CALLS service.ts:Client.send heuristic",
            "service.ts:12 Service.load CALLS service.ts:Client.send heuristic",
        ],
    );
}

#[test]
fn parameters_and_callbacks_hide_functions() {
    let text = "\
function next() {}
const format = (x) => x;

function byParameter(next) { next(); }
function byPattern({ format, other: next }) { format(next()); }
const byArrow = (next) => next();
function byLocal() { const format = pick(); return format(1); }
app.get('/', (req, res, next) => { next(); });
function free() { next(); format(1); }
";
    check(&[("app.js", text)], &["app.js:9 free CALLS app.js:format exact", "app.js:9 free CALLS app.js:next exact"]);
}

#[test]
fn overloads_and_merged_declarations_are_one_thing() {
    let text = "\
export function parse(text: string): number;
export function parse(text: number): number;
export function parse(text: any): number { return 1; }
export interface Options { deep: boolean }
export const Options = {};
export function use(options: Options) { parse('x'); }
";
    check_kinds(&[("a.ts", text)], &[References], &["a.ts:6 use REFERENCES a.ts:Options exact"]);
    check(&[("a.ts", text)], &["a.ts:6 use CALLS a.ts:parse exact"]);
}

#[test]
fn modules_of_common_js() {
    check(
        &[
            (
                "lib/a.js",
                "const { fold } = require('./text');\nconst text = require('./text');\nfunction go() {\n  fold();\n  text.trim_all();\n}\n",
            ),
            ("lib/text.js", "function fold() {}\nfunction trim_all() {}\nmodule.exports = { fold, trim_all };\n"),
        ],
        &["lib/a.js:4 go CALLS lib/text.js:fold import", "lib/a.js:5 go CALLS lib/text.js:trim_all import"],
    );
}

#[test]
fn members_of_objects_are_not_visible_bare() {
    let response = "\
const vary = require('vary')
const res = {}
res.vary = function (field) {
  vary(this, field)
}
class Type {
  constructor(inst) {
    inst.array = () => array(inst)
  }
}
function array(of) {}
";
    check(&[("response.js", response)], &["response.js:8 Type.constructor.inst.array CALLS response.js:array exact"]);
}

#[test]
fn a_module_of_common_js_is_what_it_exports() {
    let library = "module.exports = createApplication\nfunction createApplication() {}\ncreateApplication.close = function () {}\n";
    let app = "const app = require('./index')\n\nfunction run() {\n  app()\n  app.close()\n}\n";
    check(
        &[("lib.js", library), ("index.js", "module.exports = require('./lib')\n"), ("run.js", app)],
        &[
            "run.js:4 run CALLS lib.js:createApplication import",
            "run.js:5 run CALLS lib.js:createApplication.close import",
        ],
    );
}

#[test]
fn nobody_makes_an_interface() {
    let error = "export interface EmptyError extends Error {}\nexport const EmptyError = create('empty')\n";
    let last = "import { EmptyError } from './error'\nexport function last() {\n  throw new EmptyError()\n}\n";
    crate::support::check_kinds(
        &[("error.ts", error), ("last.ts", last)],
        &[cairn_domain::EdgeKind::Calls, cairn_domain::EdgeKind::References],
        &["last.ts:3 last REFERENCES error.ts:EmptyError import"],
    );
}
