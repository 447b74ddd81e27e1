// Shapes and what draws them.
#pragma once

#include <memory>
#include <string>
#include <vector>
#include "canvas/canvas.h"

#define SHAPES_VERSION 3
#define CHECK(condition) do { if (!(condition)) fail(#condition); } while (0)

namespace shapes {

class Canvas;

/// How a shape is filled.
enum class Fill : unsigned char {
  kNone,
  kSolid = 4,
};

/**
 * Something that can be drawn.
 */
class Shape {
 public:
  explicit Shape(std::string name) : name_(std::move(name)) {}
  virtual ~Shape() = default;
  Shape(const Shape&) = delete;
  Shape& operator=(const Shape& other) = delete;

  /// Area in square units.
  virtual double area() const = 0;
  virtual void draw(Canvas* canvas, Fill fill = Fill::kNone);
  const std::string& name() const { return name_; }
  static int count();

  using Pointer = std::unique_ptr<Shape>;

 protected:
  std::string name_;
  Canvas* canvas_ = nullptr;

 private:
  friend class Registry;
  static int count_;
  mutable bool dirty_{false};
};

template <typename T, int N = 2>
struct Point {
  T values[N];
  T& operator[](int index) { return values[index]; }
  bool operator==(const Point& other) const;
  operator bool() const { return true; }
  struct Hash {
    size_t operator()(const Point<T, N>& point) const;
  };
};

class Circle final : public Shape, private detail::Counted<Circle> {
 public:
  Circle(Point<double> center, double radius);
  [[nodiscard]] double area() const override;

 private:
  Point<double> center_;
  double radius_;
};

namespace detail {
template <class T>
class Counted {
 protected:
  Counted() { ++instances; }
  static inline int instances = 0;
};
}  // namespace detail

using ShapeList = std::vector<Shape::Pointer>;
typedef void (*Callback)(const Shape& shape, void* context);

template <typename T>
concept Drawable = requires(T shape) { shape.draw(nullptr); };

constexpr double kPi = 3.14159;
extern int debug_level;

template <typename T>
T clamp(T value, T low, T high) {
  return value < low ? low : value > high ? high : value;
}

Shape::Pointer make_shape(const std::string& kind);

union Value {
  int number;
  float real;
};

}  // namespace shapes
