--- Accounts, and those that may be overdrawn.
-- @module bank.account

local class = require "lib.class"
local Ledger = require("bank.ledger")
local format = require("bank.text").format
local ok, json = pcall(require, "cjson")

---@class Account
---@field owner string
---@field balance number
local Account = {}
Account.__index = Account
Account.LIMIT = 10000
Account.currency = "EUR"

local MAX_HISTORY <const> = 50
local num_accounts, last_owner = 0, nil

-- Checks an amount.
local function check(amount)
  if type(amount) ~= "number" or amount <= 0 then
    error("an amount is a positive number", 2)
  end
  return amount
end

--- Opens an account.
---@param owner string
---@param balance? number
---@return Account
function Account.new(owner, balance)
  local self = setmetatable({}, Account)
  self.owner = owner
  self.balance = balance or 0
  self.history = {}
  self.ledger = Ledger.new(owner)
  num_accounts = num_accounts + 1
  return self
end

function Account:deposit(amount)
  check(amount)
  self.balance = self.balance + amount
  self:record("deposit", amount)
  return self
end

function Account:record(kind, amount)
  self.ledger:append({ kind = kind, amount = amount })
  table.insert(self.history, 1, kind)
  while #self.history > MAX_HISTORY do
    table.remove(self.history)
  end
end

--- Takes money out, if there is enough.
function Account:withdraw(amount, ...)
  check(amount)
  if not self:can_pay(amount) then
    return nil, format("%s has only %d", self.owner, self.balance)
  end
  self.balance = self.balance - amount
  self:notify(...)
  return self
end

Account.can_pay = function(self, amount)
  return self.balance >= amount
end

function Account:notify() end

function Account.__tostring(account)
  return format("%s: %d", account.owner, account.balance)
end

--[[ An account that may be overdrawn
     down to a limit. ]]
local Credit = {}
Credit.__index = Credit
setmetatable(Credit, { __index = Account, __call = check })

function Credit.new(owner, limit)
  local credit = Account.new(owner)
  credit.limit = limit
  return setmetatable(credit, Credit)
end

function Credit:can_pay(amount)
  return Account.can_pay(self, amount) or self.balance + self.limit >= amount
end

local Savings = setmetatable({ rate = 2 }, { __index = Account })

function Savings:interest()
  local rates = { self.rate, 1 }
  local total = 0
  for index, rate in ipairs(rates) do
    total = total + rate * index
  end
  for year = 1, 10 do
    total = total + year
  end
  return total
end

local Joint = class("Joint", Account)
local Child = Account:extend()

function Joint:initialize(first, second)
  self.first, self.second = first, second
end

local function transfer(from, to, amount, check)
  local done, problem = from:withdraw(amount)
  if not done then
    return false, problem
  end
  to:deposit(amount)
  if check then
    check(to)
  end
  return true
end

return {
  Account = Account,
  Credit = Credit,
  open = Account.new,
  transfer = transfer,
  savings = function(owner)
    local account = Credit.new(owner, 100)
    account:deposit(1)
    return transfer(account, Account.new(owner), 1, check)
  end,
}
