import { Button } from "./Button";

/** Several buttons in a row. */
export function ButtonGroup(props: { labels: string[] }) {
  return <div>{props.labels.map((label) => <Button label={label} model={undefined!} />)}</div>;
}
