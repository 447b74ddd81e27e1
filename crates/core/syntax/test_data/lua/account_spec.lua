local lu = require("luaunit")
local bank = require("bank.account")
local helpers = dofile("spec/helpers.lua")

local Account, Credit = bank.Account, bank.Credit

--- Money moves between accounts.
describe("transfer", function()
  local from, to

  before_each(function()
    from = Account.new("Ada", 100)
    to = bank.open("Bob")
  end)

  it("moves the amount", function()
    assert.is_true(bank.transfer(from, to, 30))
    assert.are.equal(70, from.balance)
  end)

  it("needs enough money", function()
    local credit = Credit.new("Cleo", 50)
    assert.has_error(function() credit:deposit(-1) end)
    helpers.expect_poor(credit)
  end)
end)

TestAccount = {}

function TestAccount:setUp()
  self.account = bank.open("Ada")
end

function TestAccount:test_deposit()
  self.account:deposit(10)
  lu.assertEquals(self.account.balance, 10)
end

function TestAccount.fixture(name)
  return helpers.load { name = name, kind = "account" }
end

function test_currency()
  lu.assertEquals(Account.currency, "EUR")
end

local function add_all(...)
  local total = 0
  for _, amount in ipairs({ ... }) do
    total = total + amount
  end
  return total, print(...)
end

goto finish
add_all(1, 2)
::finish::
os.exit(lu.LuaUnit.run())
