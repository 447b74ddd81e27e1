import { MyClass } from "../models/MyClass";

export function handleClick(model: MyClass): void {
  model.save();
}

/** A button. */
export function Button(props: { label: string; model: MyClass }) {
  return <button onClick={() => handleClick(props.model)}>{props.label}</button>;
}

export function ButtonIcon(props: { icon: string }) {
  return <i className={props.icon} />;
}

export function PrimaryButton(props: { label: string; model: MyClass }) {
  return <Button label={props.label} model={props.model} />;
}
