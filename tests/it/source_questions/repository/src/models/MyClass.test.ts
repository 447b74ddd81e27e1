import { MyClass } from "./MyClass";

test("a model is saved", () => {
  expect(new MyClass()).toBeDefined();
});
