use cairn_domain::EdgeKind::{Imports, References};

use crate::support::{check, check_kinds};

const USER: (&str, &str) = (
    "lib/shop/user.ex",
    "defmodule Shop.User do\n  defstruct [:name]\n  @type t :: %__MODULE__{}\n  @limit 3\n\n  def new(name), do: %__MODULE__{name: name}\n  def new(name, opts), do: name |> new() |> rename(opts)\n  defp rename(user, _opts), do: user\nend\n",
);
const SHAPE: (&str, &str) = (
    "lib/shape.ex",
    "defprotocol Shop.Shape do\n  def area(shape)\nend\n\ndefimpl Shop.Shape, for: Shop.User do\n  def area(_user), do: helper()\n  defp helper, do: 1\nend\n",
);

#[test]
fn names_with_their_number_of_parameters() {
    check(
        &[USER],
        &[
            "lib/shop/user.ex:7 Shop.User.new CALLS lib/shop/user.ex:Shop.User.new exact",
            "lib/shop/user.ex:7 Shop.User.new CALLS lib/shop/user.ex:Shop.User.rename exact",
        ],
    );
}

#[test]
fn modules_by_alias_import_and_whole_name() {
    let accounts = "defmodule Shop.Accounts do\n  alias Shop.{User, Shape}\n  alias Shop.Text, as: T\n  import Shop.Text, only: [fold: 1]\n  alias __MODULE__.Cache\n\n  def run(list) do\n    user = User.new(\"a\", [])\n    T.trim(fold(user))\n    Shop.Text.trim(\"b\")\n    Shape.area(user)\n    Cache.put(1)\n    __MODULE__.done(2)\n    Enum.map(list, &User.new/1)\n    Missing.call()\n    %User{name: 1}\n  end\n\n  def done(_), do: :ok\n\n  defmodule Cache do\n    def put(value), do: value\n  end\nend\n";
    let text = "defmodule Shop.Text do\n  def fold(text), do: text\n  def trim(text), do: text\nend\n";
    let files = [USER, SHAPE, ("lib/shop/accounts.ex", accounts), ("lib/shop/text.ex", text)];
    check(
        &files,
        &[
            "lib/shape.ex:5 - IMPLEMENTS lib/shape.ex:Shop.Shape import",
            "lib/shape.ex:6 Shop.User.area CALLS lib/shape.ex:Shop.User.helper exact",
            "lib/shop/accounts.ex:8 Shop.Accounts.run CALLS lib/shop/user.ex:Shop.User.new import",
            "lib/shop/accounts.ex:9 Shop.Accounts.run CALLS lib/shop/text.ex:Shop.Text.fold import",
            "lib/shop/accounts.ex:9 Shop.Accounts.run CALLS lib/shop/text.ex:Shop.Text.trim import",
            "lib/shop/accounts.ex:10 Shop.Accounts.run CALLS lib/shop/text.ex:Shop.Text.trim import",
            "lib/shop/accounts.ex:11 Shop.Accounts.run CALLS lib/shape.ex:Shop.Shape.area import",
            "lib/shop/accounts.ex:12 Shop.Accounts.run CALLS lib/shop/accounts.ex:Shop.Accounts.Cache.put exact",
            "lib/shop/accounts.ex:13 Shop.Accounts.run CALLS lib/shop/accounts.ex:Shop.Accounts.done exact",
            "lib/shop/user.ex:7 Shop.User.new CALLS lib/shop/user.ex:Shop.User.new exact",
            "lib/shop/user.ex:7 Shop.User.new CALLS lib/shop/user.ex:Shop.User.rename exact",
        ],
    );
    check_kinds(
        &files,
        &[Imports, References],
        &[
            "lib/shape.ex:5 - REFERENCES lib/shop/user.ex:Shop.User import",
            "lib/shop/accounts.ex:2 - IMPORTS lib/shape.ex import",
            "lib/shop/accounts.ex:2 - IMPORTS lib/shape.ex:Shop.Shape import",
            "lib/shop/accounts.ex:2 - IMPORTS lib/shop/user.ex import",
            "lib/shop/accounts.ex:2 - IMPORTS lib/shop/user.ex:Shop.User import",
            "lib/shop/accounts.ex:3 - IMPORTS lib/shop/text.ex import",
            "lib/shop/accounts.ex:3 - IMPORTS lib/shop/text.ex:Shop.Text import",
            "lib/shop/accounts.ex:4 - IMPORTS lib/shop/text.ex import",
            "lib/shop/accounts.ex:4 - IMPORTS lib/shop/text.ex:Shop.Text import",
            "lib/shop/accounts.ex:4 - IMPORTS lib/shop/text.ex:Shop.Text.fold import",
            "lib/shop/accounts.ex:5 - IMPORTS lib/shop/accounts.ex:Shop.Accounts.Cache import",
            "lib/shop/accounts.ex:8 Shop.Accounts.run REFERENCES lib/shop/user.ex:Shop.User import",
            "lib/shop/accounts.ex:9 Shop.Accounts.run REFERENCES lib/shop/text.ex:Shop.Text import",
            "lib/shop/accounts.ex:10 Shop.Accounts.run REFERENCES lib/shop/text.ex:Shop.Text import",
            "lib/shop/accounts.ex:11 Shop.Accounts.run REFERENCES lib/shape.ex:Shop.Shape import",
            "lib/shop/accounts.ex:12 Shop.Accounts.run REFERENCES lib/shop/accounts.ex:Shop.Accounts.Cache exact",
            "lib/shop/accounts.ex:14 Shop.Accounts.run REFERENCES lib/shop/user.ex:Shop.User import",
            "lib/shop/accounts.ex:14 Shop.Accounts.run REFERENCES lib/shop/user.ex:Shop.User.new ambiguous",
            "lib/shop/accounts.ex:14 Shop.Accounts.run REFERENCES lib/shop/user.ex:Shop.User.new ambiguous",
            "lib/shop/accounts.ex:16 Shop.Accounts.run REFERENCES lib/shop/user.ex:Shop.User import",
            "lib/shop/user.ex:3 Shop.User.t REFERENCES lib/shop/user.ex:Shop.User exact",
            "lib/shop/user.ex:6 Shop.User.new REFERENCES lib/shop/user.ex:Shop.User exact",
        ],
    );
}

#[test]
fn what_use_brings_in_is_not_known() {
    let view = "defmodule Shop.View do\n  use Shop.Web, :view\n  def render(x), do: escape(x)\nend\n";
    let web = "defmodule Shop.Web do\n  defmacro __using__(which), do: apply(__MODULE__, which, [])\n  def view, do: nil\nend\n";
    check(&[("lib/view.ex", view), ("lib/web.ex", web)], &[]);
}

#[test]
fn callbacks_and_functions_of_scripts_are_not_called() {
    let store = "defmodule Store do\n  @callback load(id :: term) :: term\n  def load(id), do: id\n  def get(id), do: load(id)\n  def run(id), do: start(id)\nend\n";
    let script = "def start(id), do: id\n";
    check(&[("store.ex", store), ("script.exs", script)], &["store.ex:4 Store.get CALLS store.ex:Store.load exact"]);
}
