import { createContext, useContext, useReducer, type Dispatch } from 'react';

type Action = { type: 'add'; item: CartItem } | { type: 'clear' };

interface CartState {
  items: CartItem[];
  total: Money;
}

const initial: CartState = { items: [], total: Money.zero() };

const CartContext = createContext<[CartState, Dispatch<Action>] | null>(null);

function reduce(state: CartState, action: Action): CartState {
  switch (action.type) {
    case 'add':
      return { ...state, items: [...state.items, action.item], total: state.total.plus(price(action.item)) };
    case 'clear':
      return initial;
  }
}

export function CartProvider({ children }: { children: React.ReactNode }) {
  const value = useReducer(reduce, initial);
  return <CartContext.Provider value={value}>{children}</CartContext.Provider>;
}

export function useCart(): CartState {
  const context = useContext(CartContext);
  if (!context) {
    throw new MissingProvider<CartState>('cart');
  }
  return context[0];
}

export const withCart = <P extends object>(Inner: React.ComponentType<P & { cart: CartState }>) =>
  function WithCart(props: P) {
    const cart = useCart();
    return <Inner {...props} cart={cart} />;
  };

export const CartCount = () => <span>{useCart().items.length}</span>;

const icons: Record<string, () => JSX.Element> = {
  add: () => <AddIcon />,
  clear: ClearIcon,
};

export { icons as cartIcons };

/** Debounces a value. */
export function useDebounced<T>(value: T, delay: number = DEFAULT_DELAY): T {
  const [current, setCurrent] = useState<T>(value);
  const timer = useRef<Timer>();
  useEffect(() => {
    timer.current = startTimer(() => setCurrent(value), delay);
    return () => timer.current?.cancel();
  }, [value, delay]);
  return current;
}

const DEFAULT_DELAY = 300;

export abstract class View<P> extends React.PureComponent<P> implements Renderable {
  protected abstract title: string;
  private refs = new RefMap<HTMLElement>();

  constructor(props: P, readonly router: Router) {
    super(props);
  }

  abstract renderBody(): React.ReactNode;

  render() {
    const { Header = DefaultHeader } = this.slots();
    return (
      <>
        <Header title={this.title} />
        <ui.Panel render={this.renderBody}>{this.renderBody()}</ui.Panel>
      </>
    );
  }

  private slots(): Slots {
    return this.router.slots.get<Slots>('view')!;
  }
}

namespace ui {
  export const Panel = ({ render }: PanelProps) => <div>{render()}</div>;
  export interface PanelProps {
    render(): React.ReactNode;
  }
}
