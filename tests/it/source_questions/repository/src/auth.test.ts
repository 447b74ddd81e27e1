import { validateToken } from "./auth";

test("short tokens are invalid", () => {
  expect(validateToken("short")).toBe(false);
});
