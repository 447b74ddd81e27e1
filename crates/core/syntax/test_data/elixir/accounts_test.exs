defmodule Shop.AccountsTest do
  use ExUnit.Case, async: true
  use ExUnitProperties

  import Shop.Fixtures
  alias Shop.Accounts
  alias Shop.Accounts.User

  @moduletag :accounts
  @email "ann@example.org"

  doctest Shop.Accounts

  setup_all do
    start_supervised!(Accounts)
    :ok
  end

  setup %{conn: conn} do
    user = insert_user(email: @email)
    {:ok, user: user, conn: log_in(conn, user)}
  end

  describe "get/2" do
    test "finds a user", %{user: user} do
      assert {:ok, %User{id: id}} = Accounts.get(user.id)
      assert id == user.id
    end

    @tag :slow
    test "refuses what is no id" do
      assert_raise FunctionClauseError, fn -> Accounts.get(nil, []) end
      refute match?({:ok, _}, Accounts.get("nobody"))
    end
  end

  property "names are kept" do
    check all name <- string(:alphanumeric), max_runs: 10 do
      {:ok, user} = Accounts.register(%{email: name}, [])
      assert user.email == name
    end
  end

  defp insert_user(attrs) do
    attrs = Enum.into(attrs, %{name: "Ann"})
    {:ok, user} = Accounts.register(attrs, notify: false)
    user
  end
end
