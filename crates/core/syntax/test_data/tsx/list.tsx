import React, { type FC, type ReactNode } from 'react';
import type { Item } from './model';

interface Props<T extends Item> {
  items: T[];
  render?: (item: T) => ReactNode;
  onSelect(item: T): void;
}

export function List<T extends Item>({ items, render = renderItem, onSelect }: Props<T>): JSX.Element {
  return (
    <ul>
      {items.map((item) => (
        <ListRow<T> key={item.id} item={item} onSelect={onSelect}>
          {render(item)}
        </ListRow>
      ))}
    </ul>
  );
}

function renderItem(item: Item): ReactNode {
  return <Label.Text value={item.name} />;
}

export const Header: FC<{ title: string }> = ({ title, children }) => {
  const ref = React.useRef<HTMLElement>(null);
  const format = (text: string) => text.trim();
  return <header ref={ref}>{format(title)}{children}</header>;
};

export default React.memo(Header);
