defmodule Shop.Accounts do
  @moduledoc """
  Accounts of customers: who they are and what they may do.

      iex> Shop.Accounts.get(1)
      {:ok, %Shop.Accounts.User{}}
  """

  use GenServer, restart: :transient

  import Ecto.Query, only: [from: 2, where: 3]
  import Shop.Helpers
  require Logger
  require Shop.Macros, as: Macros

  alias Shop.{Mailer, Repo}
  alias Shop.Accounts.{Token, User}
  alias Shop.Billing.Invoice, as: Bill
  alias __MODULE__.Cache

  @behaviour Shop.Store

  @table :accounts
  # Milliseconds.
  @timeout 5_000
  @roles ~w(admin clerk)a

  @typedoc "What identifies an account."
  @type id :: pos_integer() | String.t()
  @type result(value) :: {:ok, value} | {:error, Ecto.Changeset.t()}
  @typep state :: %{cache: Cache.t(), seen: MapSet.t(id())}
  @opaque secret :: binary()

  defguard is_id(value) when is_integer(value) and value > 0
  defguardp is_role(role) when role in @roles

  ## Client

  @doc """
  Starts the server.

    * `:name` - how it is registered
  """
  @spec start_link(keyword()) :: GenServer.on_start()
  def start_link(opts \\ []) do
    name = Keyword.get(opts, :name, __MODULE__)
    GenServer.start_link(__MODULE__, opts, name: name)
  end

  @doc "Looks an account up."
  @doc since: "1.2.0"
  @spec get(id(), keyword()) :: result(User.t())
  def get(id, opts \\ [])

  def get(id, opts) when is_id(id) do
    case Repo.get(User, id, opts) do
      nil -> {:error, :not_found}
      %User{active: false} -> {:error, :inactive}
      %User{} = user -> {:ok, touch(user)}
    end
  end

  # Anything else is a name.
  def get(name, opts), do: get_by_name(name, opts)

  @doc false
  def get_by_name(name, _opts) do
    from(u in User, where: u.name == ^name)
    |> where([u], u.active)
    |> Repo.one()
    |> wrap(:not_found)
  end

  @deprecated "use register/2"
  def create(attrs), do: register(attrs, notify: false)

  def register(%{email: email} = attrs, opts) do
    changeset = User.changeset(%User{email: email}, attrs)

    with {:ok, %User{} = user} <- Repo.insert(changeset),
         {:ok, token} <- Token.sign(user.id, @timeout),
         :ok <- notify(user, token, opts) do
      Logger.info("registered #{inspect(user.id)} as #{role_name(user)}")
      {:ok, %{user | token: token}}
    else
      {:error, %Ecto.Changeset{} = failed} -> {:error, failed}
      other -> raise Shop.RegistrationError, reason: other
    end
  end

  def totals(users) do
    users
    |> Enum.filter(&active?/1)
    |> Enum.map(&Bill.total/1)
    |> Enum.reduce(0, fn %Bill{cents: cents}, sum -> sum + cents end)
    |> Macros.round_to 2
  end

  def import_all(rows) do
    for row <- rows, {:ok, user} <- [parse(row)], into: %{} do
      {user.id, user}
    end
  rescue
    error in [File.Error] -> {:error, error}
    e in Shop.ParseError -> reraise e, __STACKTRACE__
  end

  defdelegate sign(user), to: Token
  defdelegate fetch!(id), to: Repo, as: :get!

  ## Server

  @impl true
  def init(opts) do
    cache = Cache.new(@table)
    {:ok, %{cache: cache, seen: MapSet.new(), opts: opts}, {:continue, :warm}}
  end

  @impl GenServer
  def handle_call({:get, id}, _from, %{cache: cache} = state) do
    {:reply, Cache.get(cache, id), state}
  end

  def handle_call(:stop, _from, state), do: {:stop, :normal, :ok, state}

  @impl true
  def handle_info(message, state) do
    handler = Map.get(state, :handler, __MODULE__)
    handler.unexpected(message)
    callback = fn user, {kind, _rest} -> track(user, kind) end
    callback.(message, {:info, nil})
    {:noreply, state}
  end

  defp wrap(nil, reason), do: {:error, reason}
  defp wrap(value, _reason), do: {:ok, value}

  defp notify(_user, _token, notify: false), do: :ok

  defp notify(user, token, _opts) do
    Task.start(fn -> Mailer.deliver(user.email, token) end)
    :ok
  end

  defp touch(%User{} = user), do: %User{user | seen_at: DateTime.utc_now()}

  defp role_name(%{role: role}) when is_role(role), do: Atom.to_string(role)
  defp role_name(_), do: "guest"

  defp active?(%User{active: active}), do: active

  defp track(user, kind) do
    __MODULE__.Cache.put(user, kind)
    unless kind == :info, do: Logger.warning("odd: #{kind}")
  end

  defp parse(row), do: row |> String.trim() |> decode |> normalize(:strict)
end

defmodule Shop.RegistrationError do
  defexception [:reason, message: "could not register"]

  @impl true
  def message(%__MODULE__{reason: reason}), do: inspect(reason)
end
