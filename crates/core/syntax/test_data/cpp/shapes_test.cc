#include <gtest/gtest.h>

#include "shapes.hpp"

namespace shapes::testing_tools {

class CircleTest : public ::testing::Test {
 protected:
  void SetUp() override { circle_ = std::make_unique<Circle>(Point<double>{}, 2); }

  std::unique_ptr<Circle> circle_;
};

TEST_F(CircleTest, KnowsItsArea) {
  EXPECT_NEAR(circle_->area(), 4 * kPi, 1e-9);
}

TEST(MakeShape, RefusesUnknownNames) {
  EXPECT_THROW(make_shape("blob"), std::invalid_argument);
  auto helper = [](Shape& shape) { shape.draw(nullptr); };
  Circle circle({1, 2}, 3);
  helper(circle);
}

}  // namespace shapes::testing_tools
