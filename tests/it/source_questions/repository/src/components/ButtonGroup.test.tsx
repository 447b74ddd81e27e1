import { ButtonGroup } from "./ButtonGroup";

test("a group has buttons", () => {
  expect(ButtonGroup({ labels: ["Buy"] })).toBeDefined();
});
