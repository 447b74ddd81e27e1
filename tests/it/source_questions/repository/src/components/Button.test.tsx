import { Button } from "./Button";

test("a button has a label", () => {
  expect(Button({ label: "Buy", model: undefined! })).toBeDefined();
});
