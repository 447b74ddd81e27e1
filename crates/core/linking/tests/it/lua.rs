use cairn_domain::EdgeKind::{Imports, References};

use crate::support::{check, check_kinds};

#[test]
fn classes_are_tables_that_files_return() {
    let account = "\
local Ledger = require('bank.ledger')
local Account = {}
Account.__index = Account

local function check(amount) return amount end

function Account.new(owner)
  local self = setmetatable({}, Account)
  self.ledger = Ledger.new(owner)
  return self
end

function Account:deposit(amount)
  check(amount)
  self:record(amount)
  self.ledger:append(amount)
end

function Account:record(amount) end

return Account
";
    let ledger = "\
local M = {}

function M.new(owner, size) return setmetatable({}, { __index = M }) end
function M:append(entry) end
local function hidden() append() end

return M
";
    let credit = "\
local Account = require 'bank.account'
local ledger = require('bank.ledger')
local Credit = setmetatable({}, { __index = Account })

function Credit:spend(amount)
  self:deposit(-amount)
  self:missing()
end

local credit = Account.new('Ada')
credit:deposit(1)
ledger.hidden()
ledger.new()
";
    check(
        &[("src/bank/account.lua", account), ("src/bank/ledger.lua", ledger), ("src/credit.lua", credit)],
        &[
            "src/bank/account.lua:8 Account.new CALLS src/bank/account.lua:Account exact",
            "src/bank/account.lua:9 Account.new CALLS src/bank/ledger.lua:M.new import",
            "src/bank/account.lua:14 Account.deposit CALLS src/bank/account.lua:check exact",
            "src/bank/account.lua:15 Account.deposit CALLS src/bank/account.lua:Account.record exact",
            "src/bank/account.lua:16 Account.deposit CALLS src/bank/ledger.lua:M.append heuristic",
            "src/bank/ledger.lua:3 M.new CALLS src/bank/ledger.lua:M exact",
            "src/credit.lua:3 Credit EXTENDS src/bank/account.lua:Account import",
            "src/credit.lua:6 Credit.spend CALLS src/bank/account.lua:Account.deposit import",
            "src/credit.lua:10 credit CALLS src/bank/account.lua:Account.new import",
            "src/credit.lua:11 - CALLS src/bank/account.lua:Account.deposit heuristic",
            "src/credit.lua:13 - CALLS src/bank/ledger.lua:M.new import",
        ],
    );
}

#[test]
fn modules_return_tables_of_functions() {
    let text = "\
local trim = function(text) return text end
local function fold(text) return trim(text) end
local function secret() end
local Lines = {}
function Lines.split(text) return fold(text) end
return {
  fold = fold,
  cut = trim,
  split = Lines.split,
  join = function(parts) return fold(parts) end,
}
";
    let user = "\
local text = require('lib.text')
local fold = require('lib.text').fold
local function use(trim, each)
  text.fold('a')
  text.cut('a')
  text.split('a')
  text.join({})
  text.secret()
  fold('b')
  trim('c')
  for _, cut in each() do cut() end
end
";
    check(
        &[("lib/text.lua", text), ("app/use.lua", user)],
        &[
            "app/use.lua:4 use CALLS lib/text.lua:fold import",
            "app/use.lua:5 use CALLS lib/text.lua:trim import",
            "app/use.lua:6 use CALLS lib/text.lua:Lines.split import",
            "app/use.lua:7 use CALLS lib/text.lua:join import",
            "app/use.lua:9 use CALLS lib/text.lua:fold import",
            "lib/text.lua:10 join CALLS lib/text.lua:fold exact",
            "lib/text.lua:2 fold CALLS lib/text.lua:trim exact",
            "lib/text.lua:5 Lines.split CALLS lib/text.lua:fold exact",
        ],
    );
    check_kinds(
        &[("lib/text.lua", text), ("app/use.lua", user)],
        &[Imports, References],
        &[
            "app/use.lua:1 - IMPORTS lib/text.lua import",
            "app/use.lua:2 - IMPORTS lib/text.lua import",
            "app/use.lua:2 - IMPORTS lib/text.lua:fold import",
            "lib/text.lua:7 - REFERENCES lib/text.lua:fold exact",
            "lib/text.lua:8 - REFERENCES lib/text.lua:trim exact",
        ],
    );
}

#[test]
fn globals_come_from_any_file() {
    check(
        &[
            ("init.lua", "require 'helpers'\nsetup(1)\nstring.rep('a', 2)\nprint(only())\nlater()\n"),
            ("helpers.lua", "function setup() end\nlocal function only() end\n"),
            ("other/late.lua", "function later() end\n"),
        ],
        &["init.lua:2 - CALLS helpers.lua:setup import", "init.lua:5 - CALLS other/late.lua:later heuristic"],
    );
}

#[test]
fn own_tables_hold_their_functions() {
    let text = "\
local M = { run = function() end }
M.codec = {}
function M.codec.encode(value) end
function M.start()
  M.run()
  M.codec.encode(1)
  run()
end
local walk
walk = function(node) return walk(node) end
";
    check(
        &[("a.lua", text)],
        &[
            "a.lua:10 walk CALLS a.lua:walk exact",
            "a.lua:5 M.start CALLS a.lua:M.run exact",
            "a.lua:6 M.start CALLS a.lua:M.codec.encode exact",
        ],
    );
}
