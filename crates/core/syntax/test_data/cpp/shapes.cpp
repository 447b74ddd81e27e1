#include "shapes.hpp"

#include <algorithm>
#include <stdexcept>

using namespace std::string_literals;
using std::vector;
namespace fs = std::filesystem;

namespace shapes {

namespace {

const int kMaxShapes = 100;

// Where shapes are kept until they are drawn.
class Pool {
 public:
  void add(Shape* shape) { shapes_.push_back(shape); }

 private:
  vector<Shape*> shapes_;
};

double square(double value) { return value * value; }

}  // namespace

int Shape::count_ = 0;
int debug_level = 1;
static Pool pool;

int Shape::count() { return count_; }

void Shape::draw(Canvas* canvas, Fill fill) {
  this->canvas_ = canvas;
  canvas->begin(name());
  if (fill == Fill::kSolid) this->canvas_->fill(fill);
  pool.add(this);
}

Circle::Circle(Point<double> center, double radius)
    : Shape("circle"s), center_(center), radius_(radius) {
  ++count_;
}

double Circle::area() const {
  return kPi * square(radius_);
}

template <typename T, int N>
bool Point<T, N>::operator==(const Point& other) const {
  return std::equal(values, values + N, other.values);
}

/* Makes a shape by name. */
Shape::Pointer make_shape(const std::string& kind) {
  if (kind == "circle") {
    auto origin = Point<double>{{0, 0}};
    return std::make_unique<Circle>(origin, 1.0);
  }
  auto message = std::string("unknown shape: ") + kind;
  throw std::invalid_argument(message);
}

static void report(const std::exception& error) {
  std::cerr << error.what() << std::endl;
}

void draw_all(const ShapeList& shapes) {
  auto canvas = Canvas(640, 480);
  auto* recorder = new debug::Recorder(canvas);
  Observer observer{recorder};
  std::unique_ptr<Circle> unit = std::make_unique<Circle>(Point<double>{}, 1);
  std::for_each(shapes.begin(), shapes.end(), [&](const auto& shape) {
    int width = clamp<int>(shape->area(), 1, 10);
    shape->draw(&canvas);
    observer.notify(*shape, width);
  });
  try {
    unit->draw(&canvas, Fill::kSolid);
    recorder->template flush<Circle>();
  } catch (const std::runtime_error& error) {
    report(error);
  }
  for (const Shape::Pointer& each : shapes) each->name();
  on_exit(report);
  CHECK(static_cast<int>(shapes.size()) < kMaxShapes);
  delete recorder;
}

// Locals and parameters that are called like functions elsewhere.
template <typename... Parts>
void measure(int (*scale)(int), const Canvas& canvas, auto visit, Parts&&... parts) {
  auto& first = pick(canvas);
  const auto* second = pick(first);
  auto [left, right] = split(second);
  visit(first.area(), second->area(), left.area(), right->area(), scale(2));
  for (auto&& [key, value] : table()) value.store(key.text());
  for (auto step = begin(); step.valid(); step.next()) walk(step);
  for (const auto& each : left) each.trim();
  if (auto found = find(left); found->ok()) found->take(parts...);
  auto report = [counter = make(), &sink = canvas](int size, const auto& item) {
    counter.add(size, item.size());
    return sink.flush();
  };
  try {
    report(1, first);
  } catch (const Failure& failure) {
    failure.print();
  }
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << shape.name();
}

}  // namespace shapes

int shapes::detail::Registry::size(int limit) {
  return std::min(limit, Base::size());
}
