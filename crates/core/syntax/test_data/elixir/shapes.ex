defprotocol Geometry.Shape do
  @moduledoc "What has an area."

  @fallback_to_any true

  @doc "Area in square metres."
  @spec area(t) :: float()
  def area(shape)

  @doc """
  Scaled by a factor.
  """
  def scale(shape, factor)
end

defmodule Geometry.Store do
  @moduledoc false

  @doc "Saves a shape under a name."
  @callback save(name :: String.t(), shape :: Geometry.Shape.t()) :: :ok | {:error, term()}
  @callback load(String.t()) :: shape when shape: Geometry.Shape.t()
  @macrocallback define(name :: atom()) :: Macro.t()
  @optional_callbacks define: 1
end

defmodule Geometry do
  alias Geometry.Shape

  defmodule Point do
    @enforce_keys [:x, :y]
    @derive {Jason.Encoder, only: [:x, :y]}
    defstruct [:x, :y, label: "point"]

    @type t :: %__MODULE__{x: number(), y: number(), label: String.t()}

    def new(x, y), do: %__MODULE__{x: x, y: y}
    def origin, do: new(0, 0)

    def a + b, do: new(a.x + b.x, a.y + b.y)
  end

  defmodule Circle do
    @derive [Inspect, Jason.Encoder]
    defstruct center: nil, radius: 1.0

    defimpl Geometry.Shape do
      def area(%{radius: radius}), do: Geometry.square(radius) * :math.pi()
      def scale(circle, factor), do: %{circle | radius: circle.radius * factor}
    end
  end

  @doc "The shape with the largest area."
  def largest([]), do: nil

  def largest(shapes) when is_list(shapes) do
    Enum.max_by(shapes, &Shape.area/1)
  end

  def square(x), do: x * x

  def bounding(%Circle{center: %Point{} = center} = circle) do
    {Point.new(center.x - circle.radius, center.y), Point.origin()}
  end

  def bounding(%Point{} = point) do
    alias Geometry.Point, as: P
    size = P.origin()
    {point, size}
  end
end

defimpl Geometry.Shape, for: Geometry.Point do
  def area(_point), do: 0.0
  def scale(point, _factor), do: point
end

defimpl String.Chars, for: [Geometry.Circle] do
  def to_string(circle), do: "circle of #{circle.radius}"
end

defmodule Geometry.DSL do
  @moduledoc ~S"""
  Shapes by name: `shape :unit, Circle`.
  """

  defmacro __using__(opts) do
    store = Keyword.fetch!(opts, :store)

    quote do
      import Geometry.DSL, except: [helper: 1]
      @before_compile Geometry.DSL
      @store unquote(store)

      def __shapes__, do: @store
    end
  end

  @doc "Defines a shape."
  defmacro shape(name, module) do
    quote bind_quoted: [name: name, module: module] do
      def unquote(name)(), do: struct!(module)
    end
  end

  defmacro debug(expression) when is_tuple(expression) do
    Macro.to_string(expression)
  end

  defmacrop internal(value), do: value
end

defmodule Geometry.Gallery do
  use Geometry.DSL, store: Geometry.Store
  use Phoenix.Component

  shape :unit, Geometry.Circle

  attr :shape, :map, required: true

  def show(assigns) do
    ~H"""
    <p><%= Geometry.Shape.area(@shape) %></p>
    """
  end

  def each(shapes, fun) do
    Enum.each shapes, fn
      %Geometry.Circle{} = circle -> fun.(circle)
      other -> Geometry.Shape.scale(other, 2)
    end

    receive do
      {:done, pid} when is_pid(pid) -> send(pid, :ok)
    after
      1_000 -> :timeout
    end

    cond do
      Enum.empty?(shapes) -> :none
      true -> unit()
    end
  end
end
